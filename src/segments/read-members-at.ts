import type { Cause } from '../outbox/segment-change-row.ts'
import { NEWEST, type Position, readPosition, toPage } from './page-position.ts'
import { type HistoryDeps, findErased, queryChanges } from './read-change-rows.ts'
import type { MemberPage, PageQuery } from './read-members.ts'

interface EntryRow extends Position {
  contactId: string
  cause: Cause
}

/**
 * Returns the members at the instant `at` (epoch milliseconds), newest entry first: contacts whose last change up to
 * then was an entry. They have the ids that they had then. Changes at the instant itself count.
 */
export async function readMembersAt(
  deps: HistoryDeps,
  { at, ...query }: PageQuery & { at: number },
): Promise<MemberPage | 'invalid_cursor' | 'unavailable'> {
  const before = query.cursor === null ? NEWEST : readPosition(query.cursor)
  if (before === null) return 'invalid_cursor'
  const rows = await queryChanges<EntryRow>(deps, query, {
    query: `
      select tupleElement(last, 1) as at, tupleElement(last, 2) as id, tupleElement(last, 3) as cause, contact_id as contactId
      from (
        select contact_id, max(tuple(at_ms, change_id, cause, entered)) as last
        from (select * from shipped union all select * from unshipped)
        where at_ms <= {at: Int64} group by contact_id
      )
      where tupleElement(last, 4) = 1
        and at <= {beforeAt: Int64} and (at < {beforeAt: Int64} or id < {beforeId: String})
      order by at desc, id desc
      limit {count: UInt32}`,
    params: { at, beforeAt: before.at, beforeId: before.id, count: query.limit + 1 },
  })
  if (rows === undefined) return 'unavailable'
  const { page, nextCursor } = toPage(rows, query.limit)
  const ids = page.map(({ contactId }) => contactId)
  const erased = await findErased(deps.sql, query.businessId, ids)
  const members = page.map(({ contactId, at: enteredAt, cause }) => ({
    contactId: erased.has(contactId) ? null : contactId,
    enteredAt: new Date(enteredAt).toISOString(),
    cause,
  }))
  return { members, nextCursor }
}
