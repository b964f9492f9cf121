import type { SimulatedContact, Simulation, SimulationEnd } from '../../../src/rules/campaigns/simulate.ts'
import { simulate } from '../../../src/rules/campaigns/simulate.ts'

export interface RunSimulation {
  /** `step reason`, or only the step if the message is sent, and the instant. */
  sends: [send: string, at: number][]
  end: SimulationEnd
}

/** @param fails the ids of steps whose messages cannot be rendered */
export function runSimulation(simulation: Simulation, fails: readonly string[] = []): RunSimulation {
  const sends: RunSimulation['sends'] = []
  const moves = simulate(simulation)
  for (let next = moves.next(); ;) {
    if (next.done === true) return { sends, end: next.value }
    const { step, at, reason } = next.value
    sends.push([reason === null ? step.id : `${step.id} ${reason}`, at])
    next = moves.next(!fails.includes(step.id))
  }
}

/** A contact that has opted in to everything. */
export const REACHABLE: SimulatedContact = {
  contactId: 'ada',
  zone: 'UTC',
  testRule: () => false,
  update: () => undefined,
  hasOptIn: () => true,
  topicOf: () => null,
  addressOf: (channel) => (channel === 'webhook' || channel === 'push' ? undefined : 'ada@example.com'),
  isSuppressed: () => false,
  sent: [],
}
