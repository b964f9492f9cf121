import { settleTime } from '../rules/segments/membership/settle-time.ts'
import { SETS_AT_ONCE, saveInSets } from './save-in-sets.ts'
import { type ContactId, type Settle, saveSettled } from './save-settled.ts'
import type { SegmentDeps } from './segment-deps.ts'

/** Contacts settled in one save. Larger sets cost less per contact, and conflict more often with live events. */
const SET_SIZE = 2000
/** Milliseconds after which a contact that keeps changing is tried again. */
const CONFLICT_MS = 50
/** Milliseconds after which due windows are checked again. */
const WINDOWS_MS = 100

/**
 * Settles the next contacts whose instant has come, earliest first (segments, "Membership": time).
 * @param waits whether to wait for contacts whose windows change by time at that instant or before, so that everything
 * due is settled together
 * @returns `more` when other contacts may be waiting; else the next known instant (epoch milliseconds), or null
 */
export async function settleDue(deps: SegmentDeps, waits = false): Promise<'more' | number | null> {
  const { sql } = deps
  const [first] = await sql<{ due_at: number }[]>`
    select due_at from segment_clock where due_at is not null order by due_at limit 1`
  const now = deps.now()
  if (!first || first.due_at > now) return first?.due_at ?? null
  const due = await sql<ContactId[]>`
    select business_id, contact_id as id from segment_clock c
    where due_at <= ${now} and not (${waits} and exists (
      select from segment_windows w
      where w.business_id = c.business_id and w.contact_id = c.contact_id and w.next_at <= c.due_at
    ))
    order by due_at limit ${SETS_AT_ONCE * SET_SIZE}`
  if (due.length === 0) return now + WINDOWS_MS
  let found = 0
  const settle: Settle = (context, contact, { segments }) => {
    const { facts } = contact
    if (!segments || !facts) return
    found += 1
    const until = waits ? Math.min(now, ...[...facts.windowsDue.values()].map((at) => at - 1)) : now
    settleTime(context, segments, contact, facts, until)
  }
  const settled = await saveInSets(due, (set) => saveSettled(deps, set, settle))
  if (found === 0) await dropClocks(deps, due)
  return settled.every(({ length }) => length > 0) ? 'more' : now + CONFLICT_MS
}

/** Drops the clocks of contacts that no longer exist, or whose business no longer has segments. */
async function dropClocks({ sql, configs }: SegmentDeps, due: ContactId[]): Promise<void> {
  const businesses = [...new Set(due.map(({ business_id }) => business_id))]
  // Perhaps only the cached configuration has no segments.
  for (const id of businesses) configs.delete(id)
  await sql`
    delete from segment_clock k
    where k.business_id = any (${`{${businesses.join(',')}}`}::uuid[])
      and k.contact_id = any (${`{${due.map(({ id }) => id).join(',')}}`}::uuid[])
      and (
        not exists (select from segment_rules r where r.business_id = k.business_id and r.state <> 'retired')
        or not exists (
          select from contacts c where c.business_id = k.business_id and c.id = k.contact_id and c.merged_into is null
        )
      )`
}
