import type { Cause } from '../outbox/segment-change-row.ts'
import type { Sql } from '../stores/postgres.ts'
import { NEWEST, type Position, readPosition, toPage } from './page-position.ts'

export interface Member {
  /** Null for a person who was erased since the instant asked about. */
  contactId: string | null
  /** ISO 8601 UTC. */
  enteredAt: string
  cause: Cause
}

export interface MemberPage {
  members: Member[]
  /** Null at the end. */
  nextCursor: string | null
}

export interface PageQuery {
  businessId: string
  segmentId: string
  limit: number
  /** `nextCursor` of the page before; null for the first. */
  cursor: string | null
}

/**
 * Who is a member by the rule in force, newest entry first. Who is one throughout is on exactly one page, regardless of who comes and
 * goes meanwhile: neither the time of an entry nor the id changes. Null when the cursor is not one of this list.
 */
export async function readMembers(sql: Sql, query: PageQuery): Promise<MemberPage | null> {
  const before = query.cursor === null ? NEWEST : readPosition(query.cursor)
  if (before === null) return null
  const { businessId, segmentId, limit } = query
  const rows = await sql<(Position & { cause: Cause })[]>`
    select contact_id as id, since as at, cause
    from list_members(${businessId}, ${segmentId}, ${before.at}, ${before.id}, ${limit + 1})`
  const { page, nextCursor } = toPage(rows, limit)
  const members = page.map(({ id, at, cause }) => ({ contactId: id, enteredAt: new Date(at).toISOString(), cause }))
  return { members, nextCursor }
}
