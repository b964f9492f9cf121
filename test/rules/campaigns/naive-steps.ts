/**
 * Runs the steps of a campaign recursively, with a clock that moves while it waits: `advance` must give the same
 * results.
 */
import { Temporal } from 'temporal-polyfill'
import { shareOf } from '../../../src/rules/campaigns/stable-hash.ts'
import type { SplitStep, Step } from '../../../src/rules/campaigns/steps.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { naiveNext, naiveZone } from './naive-local-time.ts'

/** Changes while the interpreter waits. Instants are epoch ms. */
export interface World {
  now: number
  zone: string
  contactId: string
  /** The events that are recorded. */
  events: { event: string; at: number }[]
  isTrue(rule: Rule): boolean
  /** Whether events meet the conditions of a step that has any. */
  meets: boolean
  /** True when the send or update at which the interpreter stands is settled. */
  isSettled: boolean
}

/** Where the interpreter stands, and since when; for a wait, also until when and for which event. */
export type Stand =
  | { kind: 'wait'; stepId: string; since: number; dueAt: number; listensFor: string | null }
  | { kind: 'send'; stepId: string; since: number; isImmediate: boolean }
  | { kind: 'update'; stepId: string; since: number }

/**
 * Yields where it stands each time that it is resumed, and returns at the end. `entered` collects the ids of the steps
 * as they are reached.
 */
export function* runSteps(steps: readonly Step[], world: World, entered: string[]): Generator<Stand, void> {
  const run = { world, entered, hasPaused: false }
  yield* runList(steps, run)
}

interface Run {
  world: World
  entered: string[]
  hasPaused: boolean
}

/** Returns true when it met an exit. */
function* runList(steps: readonly Step[], run: Run): Generator<Stand, boolean> {
  for (const step of steps) {
    run.entered.push(step.id)
    if (yield* runStep(step, run)) return true
  }
  return false
}

function* runStep(step: Step, run: Run): Generator<Stand, boolean> {
  const { world } = run
  const [stepId, since] = [step.id, world.now]
  switch (step.type) {
    case 'send': {
      const isImmediate = !run.hasPaused || step.kind === 'transactional'
      for (world.isSettled = false; !world.isSettled;) yield { kind: 'send', stepId, since, isImmediate }
      run.hasPaused = true
      return false
    }
    case 'wait':
      run.hasPaused = true
      for (const dueAt = since + msOf(step.for); world.now < dueAt;)
        yield { kind: 'wait', stepId, since, dueAt, listensFor: null }
      return false
    case 'wait_until':
      run.hasPaused = true
      for (;;) {
        const dueAt = naiveNext(naiveZone(world.zone), since, step.time, step.weekdays)
        if (world.now >= dueAt) return false
        yield { kind: 'wait', stepId, since, dueAt, listensFor: null }
      }
    case 'wait_for': {
      run.hasPaused = true
      const dueAt = since + msOf(step.timeout)
      const canHappen = world.meets || (!step.where && !step.sameKey)
      const happened = () =>
        canHappen && world.events.some(({ event, at }) => event === step.event && at >= since && at <= dueAt)
      while (world.now < dueAt && !happened()) yield { kind: 'wait', stepId, since, dueAt, listensFor: step.event }
      return yield* runList(happened() ? step.steps : step.otherwise, run)
    }
    case 'branch':
      return yield* runList(world.isTrue(step.rule) ? step.steps : step.otherwise, run)
    case 'split':
      return yield* runList(partOf(step, world.contactId), run)
    case 'update':
      for (world.isSettled = false; !world.isSettled;) yield { kind: 'update', stepId, since }
      return false
    case 'exit':
      return true
  }
}

function partOf({ id, parts }: SplitStep, contactId: string): readonly Step[] {
  const share = shareOf('split', contactId, id)
  // Percents have two decimals. As doubles, they would not add up exactly.
  const hundredths = parts.map(({ percent }) => Math.round(percent * 100))
  const ends = parts.map((_, index) => hundredths.slice(0, index + 1).reduce((sum, part) => sum + part, 0))
  return parts[ends.findIndex((end) => share < end)]?.steps ?? []
}

const msOf = (duration: string): number =>
  Temporal.Duration.from(duration).total({ unit: 'milliseconds', relativeTo: '2026-01-01T00:00Z[UTC]' })
