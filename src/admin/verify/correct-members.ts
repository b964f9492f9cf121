import type { DecisionContext } from '../../rules/changes.ts'
import { changeMembership } from '../../rules/segments/membership/change-membership.ts'
import type { CompiledSegments } from '../../rules/segments/compile/compile-segments.ts'
import { earlierOf, moveClock } from '../../rules/segments/membership/watch-item.ts'
import type { ContactState } from '../../rules/state.ts'
import { saveSettled } from '../../segments/save-settled.ts'
import type { WrongMember } from './compare-members.ts'
import { expectMembership } from './expected-membership.ts'
import type { RepairDeps } from './kind.ts'

/**
 * Corrects the wrong memberships and clocks by the present facts, in the same way as the segment worker: a contact that
 * changes in the meantime is judged again. Starts no campaigns. Returns the number of contacts.
 */
export async function correctMembers(
  { writer, log, config }: RepairDeps,
  businessId: string,
  wrong: WrongMember[],
): Promise<number> {
  const numbers = new Map(
    [...Map.groupBy(wrong, ({ contactId }) => contactId)].map(([id, members]) => [
      id,
      new Set(members.map(({ no }) => no)),
    ]),
  )
  const contacts = [...numbers.keys()].map((id) => ({ business_id: businessId, id }))
  const now = () => Date.now()
  const settled = await saveSettled(
    { sql: writer, log, config, configs: new Map(), now },
    contacts,
    (context, contact, { segments }) => {
      if (segments) correct(context, segments, contact, numbers.get(contact.id) ?? new Set(), now())
    },
  )
  return settled.length
}

function correct(
  { changes }: DecisionContext,
  segments: CompiledSegments,
  contact: ContactState,
  numbers: Set<number>,
  now: number,
): void {
  const judged = expectMembership(segments, contact, now)
  if (!contact.facts || !judged || judged === 'due') return
  const { at, answers, next } = judged
  for (const { segment, isMember } of answers)
    // Writing an unchanged membership has no effect.
    if (numbers.has(segment.no)) changeMembership(changes, contact, segment, { entered: isMember, at, cause: 'rule' })
  const { dueAt, settledAt } = contact.facts.clock
  moveClock(changes, contact, contact.facts, {
    dueAt: earlierOf(dueAt, next?.at ?? null),
    settledAt: Math.max(settledAt, judged.settledAt),
  })
}
