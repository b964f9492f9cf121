/** The key of a simulated enrolment, and the answers that are trigger events of the same key. */
import type { MessageValues } from '../../messages/templates/values.ts'
import { compileKey, keyPathOf } from '../../rules/campaigns/enrolment-key.ts'
import { compileCondition, fitOf } from '../../rules/campaigns/event-condition.ts'
import { compileTrigger } from '../../rules/campaigns/event-trigger.ts'
import type { SimulatedEvent, Simulation } from '../../rules/campaigns/simulate.ts'
import { meaningOfName } from '../../rules/events/interpret.ts'
import { type Fault, faultOf } from '../../rules/faults.ts'
import type { Campaign } from '../campaign.ts'

type TriggerEvent = MessageValues['event']

/** Null: the event has a key, or needs none. */
export function refuseWithoutKey({ enrolPer }: Campaign, event: TriggerEvent): Fault | null {
  if (enrolPer === 'contact' || readKeyOf(enrolPer.property, event) !== null) return null
  return faultOf('event.properties', 'no_key_in_event', enrolPer)
}

const readKeyOf = (path: string, event: TriggerEvent): string | null => compileKey(path)(event?.properties)

export function keysOf(campaign: Campaign, event: TriggerEvent): Pick<Simulation, 'keys' | 'restartsBy'> {
  const keyPath = keyPathOf(campaign.enrolPer)
  const key = keyPath === null ? null : readKeyOf(keyPath, event)
  return {
    ...(keyPath !== null && key !== null && { keys: { key, keyPath } }),
    ...(campaign.whileActive === 'restart' && { restartsBy: isTriggerOf(campaign, event) }),
  }
}

/** Returns the event that templates read at an instant: of the trigger events so far, the latest. */
export function latestTrigger(
  campaign: Campaign,
  { event, answers }: { event: TriggerEvent; answers: readonly SimulatedEvent[] },
  now: number,
): TriggerEvent {
  if (campaign.whileActive === 'ignore') return event
  const isTrigger = isTriggerOf(campaign, event)
  const later = answers.filter((answer) => answer.at <= now && isTrigger(answer)).toSorted((a, b) => a.at - b.at)
  const last = later.at(-1)
  return last ? { name: last.event, properties: last.properties ?? {} } : event
}

function isTriggerOf({ trigger, enrolPer, goal }: Campaign, first: TriggerEvent): (answer: SimulatedEvent) => boolean {
  if (!('event' in trigger)) return () => false
  const keyPath = keyPathOf(enrolPer)
  const test = compileTrigger(trigger)
  const readKey = keyPath === null ? () => null : compileKey(keyPath)
  const ownGoal = goal?.event === trigger.event ? compileCondition(goal, keyPath) : null
  return ({ event, properties = {} }) => {
    if (event !== trigger.event || readKey(properties) !== readKey(first?.properties)) return false
    const { type } = meaningOfName(event)
    const seen = { value: null, currency: null, type, source: 'live' as const, properties: () => properties }
    return (test?.(seen) ?? true) && (ownGoal === null || fitOf(ownGoal, seen) === null)
  }
}
