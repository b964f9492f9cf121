import type { Cause } from '../outbox/segment-change-row.ts'
import { NEWEST, type Position, readPosition, toPage } from './page-position.ts'
import { type HistoryDeps, findErased, queryChanges } from './read-change-rows.ts'
import type { PageQuery } from './read-members.ts'

export interface SegmentChange {
  /** Null for a person who was erased. */
  contactId: string | null
  change: 'entered' | 'left'
  /** ISO 8601 UTC. */
  at: string
  cause: Cause
}

export interface ChangePage {
  changes: SegmentChange[]
  /** Null at the end. */
  nextCursor: string | null
}

/** Epoch milliseconds: `from` is included, `to` is not. */
export interface Range {
  from: number
  to: number
}

interface ChangeRow extends Position {
  contactId: string
  entered: 0 | 1
  cause: Cause
}

const PAGE = `
  where at_ms >= {from: Int64} and at_ms < {to: Int64}
    and at_ms <= {beforeAt: Int64} and (at_ms < {beforeAt: Int64} or change_id < {beforeId: String})
  order by at_ms desc, change_id desc limit {count: UInt32}`

/** Returns the changes, newest first. Of two changes at one instant, the later one comes first. */
export async function readChanges(
  deps: HistoryDeps,
  query: PageQuery & Range,
): Promise<ChangePage | 'invalid_cursor' | 'unavailable'> {
  const before = query.cursor === null ? NEWEST : readPosition(query.cursor)
  if (before === null) return 'invalid_cursor'
  const { from, to, limit, businessId } = query
  const rows = await queryChanges<ChangeRow>(deps, query, {
    query: `
      select change_id as id, contact_id as contactId, at_ms as at, entered, cause
      from (select * from shipped ${PAGE} union all select * from unshipped ${PAGE})
      order by at_ms desc, change_id desc
      limit 1 by change_id
      limit {count: UInt32}`,
    params: { from, to, beforeAt: before.at, beforeId: before.id, count: limit + 1 },
  })
  if (rows === undefined) return 'unavailable'
  const { page, nextCursor } = toPage(rows, limit)
  const erased = await findErased(
    deps.sql,
    businessId,
    page.map(({ contactId }) => contactId),
  )
  return { changes: page.map((row) => toChange(row, erased)), nextCursor }
}

const toChange = ({ contactId, at, entered, cause }: ChangeRow, erased: ReadonlySet<string>): SegmentChange => ({
  contactId: erased.has(contactId) ? null : contactId,
  change: entered === 1 ? 'entered' : 'left',
  at: new Date(at).toISOString(),
  cause,
})
