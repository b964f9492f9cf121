import type { DecisionContext } from '../../changes.ts'
import type { ContactState } from '../../state.ts'
import { changeMembership } from './change-membership.ts'
import type { CompiledSegments } from '../compile/compile-segments.ts'
import { settleTime } from './settle-time.ts'
import { viewFacts } from './view-facts.ts'
import { earlierOf, moveClock } from './watch-item.ts'

/** Enters a contact into the rules that are being built, and sets the clock for them. Saves handle later changes. */
export function enterBuilt(
  context: DecisionContext,
  segments: CompiledSegments,
  contact: ContactState,
  now: number,
): void {
  const { facts } = contact
  if (!facts) throw new Error(`the facts of contact ${contact.id} were not loaded`)
  const at = Math.max(now, facts.clock.settledAt)
  settleTime(context, segments, contact, facts, at)
  const view = viewFacts(contact, facts)
  let { dueAt, settledAt } = facts.clock
  for (const segment of segments.all) {
    if (!segment.isBuilding) continue
    const isMember = segment.test(view, at)
    if (isMember) changeMembership(context.changes, contact, segment, { entered: true, at, cause: 'rule' })
    if (!segment.isTimed) continue
    dueAt = earlierOf(dueAt, segment.nextChange(view, at, isMember))
    settledAt = Math.max(settledAt, segment.lastChange(view, at))
  }
  moveClock(context.changes, contact, facts, { dueAt, settledAt })
}
