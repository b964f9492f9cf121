/**
 * The next step of an enrolment: a pure function of the campaign's steps, the enrolment's position, the instant, and
 * the contact.
 */
import type { Rule } from '../segments/rule.ts'
import type { Definition } from './definition.ts'
import { nextLocalTime } from './local-time.ts'
import { readDuration } from './read-duration.ts'
import { hundredths } from './read-words.ts'
import { shareOf } from './stable-hash.ts'
import type { SendStep, SplitStep, Step, UpdateStep, WaitForStep } from './steps.ts'
import { listsIn } from './walk-steps.ts'

/** The step that an enrolment has reached. */
export interface Position {
  stepId: string
  /** Instant at which the step began, in epoch milliseconds. */
  since: number
  /** True while no wait and no send has been passed: a send is then sent at once, in quiet hours too. */
  isFirst: boolean
}

export interface Facts {
  /** True when the rule of a branch matches the contact now. Null: the timeline has to be queried first. */
  testRule: (rule: Rule, stepId: string) => boolean | null
  /** Instant (epoch milliseconds) of the earliest event that the step waits for, recorded and dated at or after `since`. */
  awaitedEventAt: (step: WaitForStep, since: number) => number | null
  /** A zone that the runtime knows: see `knownZone`. */
  timezone: () => string
}

export type Action = (
  | { kind: 'wait'; position: Position; dueAt: number; listensFor: WaitForStep | null }
  /** `isImmediate`: quiet hours do not delay it. When the send is settled, advance from `{ done: position }`. */
  | { kind: 'send'; position: Position; step: SendStep; isImmediate: boolean }
  /** When it is applied, advance from `{ done: position }`. */
  | { kind: 'update'; position: Position; step: UpdateStep }
  /** The branch needs an answer of the timeline. */
  | { kind: 'ask'; position: Position }
  | { kind: 'finish' }
  /** The campaign has no steps. */
  | { kind: 'stay' }
) & {
  /** Ids of the steps that this move has reached, including the one where it stops. */
  entered: string[]
}

export interface Move {
  definition: Pick<Definition, 'steps'>
  contactId: string
  /** Null: at the beginning. `done`: the send there is settled, or the update is applied. */
  position: Position | { done: Position } | null
  /** Instant of the move, in epoch milliseconds: the steps that it reaches begin then. */
  now: number
  facts: Facts
}

/**
 * Passes everything that needs no waiting, up to the next wait, send, update or question, or the end. The same input
 * has the same outcome.
 */
export function advance(move: Move): Action {
  const { steps } = move.definition
  if (steps.length === 0) return { kind: 'stay', entered: [] }
  const places = placesOf(steps)
  const entered: string[] = []
  let position = startOf(move, places, entered)
  while (position !== null) {
    const { step, next } = placeOf(places, position.stepId)
    const outcome = visit(step, position, move)
    if ('kind' in outcome) return { ...outcome, entered }
    const onward = outcome.into[0] ?? next
    position = onward && enter(onward, move, position.isFirst && !outcome.isDelay, entered)
  }
  return { kind: 'finish', entered }
}

function startOf({ position, ...move }: Move, places: Places, entered: string[]): Position | null {
  if (position !== null && !('done' in position)) return position
  if (position === null) {
    const [first] = move.definition.steps
    return first ? enter(first, move, true, entered) : null
  }
  const { step, next } = placeOf(places, position.done.stepId)
  return next && enter(next, move, position.done.isFirst && step.type === 'update', entered)
}

function enter({ id }: Step, { now }: Pick<Move, 'now'>, isFirst: boolean, entered: string[]): Position {
  entered.push(id)
  return { stepId: id, since: now, isFirst }
}

type Stop = Action extends infer One ? (One extends unknown ? Omit<One, 'entered'> : never) : never

/** Leaves a step: enters the first of these steps, or else goes to the step after it. */
interface Leave {
  into: readonly Step[]
  isDelay: boolean
}

const past = (isDelay: boolean): Leave => ({ into: [], isDelay })

function visit(step: Step, position: Position, move: Move): Stop | Leave {
  const { now, facts } = move
  switch (step.type) {
    case 'send':
      return { kind: 'send', position, step, isImmediate: position.isFirst || step.kind === 'transactional' }
    case 'wait':
      return waitUntil(position.since + msOf(step.for), position, now)
    case 'wait_until':
      // From the beginning of the step, so that it follows the contact's zone.
      return waitUntil(nextLocalTime(position.since, step, facts.timezone()), position, now)
    case 'wait_for':
      return waitFor(step, position, move)
    case 'branch': {
      const isTrue = facts.testRule(step.rule, step.id)
      if (isTrue === null) return { kind: 'ask', position }
      return { into: isTrue ? step.steps : step.otherwise, isDelay: false }
    }
    case 'split':
      return { into: partOf(step, move.contactId), isDelay: false }
    case 'update':
      return { kind: 'update', position, step }
    case 'exit':
      return { kind: 'finish' }
  }
}

const waitUntil = (dueAt: number, position: Position, now: number): Stop | Leave =>
  now >= dueAt ? past(true) : { kind: 'wait', position, dueAt, listensFor: null }

/** Returns the event or the time-out, whichever is earlier; the event if both are at the same instant. */
function waitFor(step: WaitForStep, position: Position, { now, facts }: Move): Stop | Leave {
  const dueAt = position.since + msOf(step.timeout)
  const happenedAt = facts.awaitedEventAt(step, position.since)
  if (happenedAt !== null && happenedAt <= dueAt) return { into: step.steps, isDelay: true }
  if (now >= dueAt) return { into: step.otherwise, isDelay: true }
  return { kind: 'wait', position, dueAt, listensFor: step }
}

function partOf({ id, parts }: SplitStep, contactId: string): readonly Step[] {
  let rest = shareOf('split', contactId, id)
  for (const { percent, steps } of parts) {
    rest -= hundredths(percent)
    if (rest < 0) return steps
  }
  throw new Error(`the parts of the split ${id} are less than 100 per cent`)
}

function msOf(duration: string): number {
  const ms = readDuration(duration)
  if (ms === undefined) throw new Error(`${duration} is not a duration`)
  return ms
}

/** A step, the step that follows it, and all steps inside it. */
interface Place {
  step: Step
  next: Step | null
}
type Places = ReadonlyMap<string, Place>

/** Cached by the list of steps, which never changes. */
const known = new WeakMap<readonly Step[], Places>()

function placesOf(steps: readonly Step[]): Places {
  const found = known.get(steps)
  if (found) return found
  const places = new Map<string, Place>()
  lay(steps, null, places)
  known.set(steps, places)
  return places
}

function lay(steps: readonly Step[], after: Step | null, places: Map<string, Place>): void {
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1] ?? after
    places.set(step.id, { step, next })
    for (const list of listsIn(step)) lay(list.steps, next, places)
  }
}

function placeOf(places: Places, stepId: string): Place {
  const place = places.get(stepId)
  if (!place) throw new Error(`the campaign has no step ${stepId} in this version`)
  return place
}
