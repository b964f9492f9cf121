/** What becomes of where an enrolment is. */
import type { PlanStep, VIP } from './plan.ts'
import type { ModelEnrolment, Row } from './records.ts'

/** A message that is under way, or to be tried again, is settled first. */
export function end(one: ModelEnrolment, state: ModelEnrolment['state']): void {
  one.state = state
  if (!one.row?.message) one.row = null
}

/** What waits for a time: it can be another one. What is being sent, tried again or applied goes on. */
export function lookAgain({ row }: ModelEnrolment): void {
  if (!row || row.claim || row.message || row.attempts > 0 || row.isSettled || row.isHeld) return
  row.nextAt = Math.min(row.nextAt, row.since)
}

/** The step is due when what it waits for has happened. */
export function hear({ row }: ModelEnrolment, event: string, at: number): void {
  const [step] = row?.rest ?? []
  if (row && step?.type === 'wait_for' && step.event === event && at >= row.since) row.nextAt = Math.min(row.nextAt, at)
}

/** When the event first happened at or after `since`. Infinity: it did not. */
export function firstSince({ person: { events } }: ModelEnrolment, awaited: string, since: number): number {
  return Math.min(...events.flatMap(({ event, at }) => (event === awaited && at >= since ? [at] : [])))
}

/** What a branch asks. */
export function holds({ person }: ModelEnrolment, on: { event: string } | { tag: typeof VIP }): boolean {
  const { isVip, events } = person
  return 'tag' in on ? isVip : events.some(({ event }) => event === on.event)
}

/** Goes on after the step, or into a list of steps in it. */
export function pass(row: Row, into: PlanStep[], isDelay: boolean, now: number): void {
  row.rest = [...into, ...row.rest.slice(1)]
  row.since = now
  row.attempts = 0
  row.isFirst &&= !isDelay
}
