/** Changes of the row that says where an enrolment is. */
import type { PlanStep, VIP } from './plan.ts'
import type { ModelEnrolment, Row } from './records.ts'

/** A message that is in progress, or is to be tried again, is settled first. */
export function end(one: ModelEnrolment, state: ModelEnrolment['state']): void {
  one.state = state
  if (!one.row?.message) one.row = null
}

/**
 * Looks again at a step that waits for a time, which may have changed. Steps that are being sent, tried again or
 * applied continue.
 */
export function lookAgain({ row }: ModelEnrolment): void {
  if (!row || row.claim || row.message || row.attempts > 0 || row.isSettled || row.isHeld) return
  row.nextAt = Math.min(row.nextAt, row.since)
}

/** The step becomes due when the awaited event has happened. */
export function recordAwaited({ row }: ModelEnrolment, event: string, at: number): void {
  const [step] = row?.rest ?? []
  if (row && step?.type === 'wait_for' && step.event === event && at >= row.since) row.nextAt = Math.min(row.nextAt, at)
}

/** Returns when the event first happened at or after `since`; Infinity when it did not. */
export function firstSince({ person: { events } }: ModelEnrolment, awaited: string, since: number): number {
  return Math.min(...events.flatMap(({ event, at }) => (event === awaited && at >= since ? [at] : [])))
}

/** Evaluates the condition of a branch. */
export function holds({ person }: ModelEnrolment, on: { event: string } | { tag: typeof VIP }): boolean {
  const { isVip, events } = person
  return 'tag' in on ? isVip : events.some(({ event }) => event === on.event)
}

/** Moves on past the step, or into a list of steps inside it. */
export function pass(row: Row, into: PlanStep[], isDelay: boolean, now: number): void {
  row.rest = [...into, ...row.rest.slice(1)]
  row.since = now
  row.attempts = 0
  row.isFirst &&= !isDelay
}
