import type { Cause } from '../outbox/segment-change-row.ts'
import type { Sql } from '../stores/postgres.ts'
import { NEWEST, type Position, readPosition, toPage } from './page-position.ts'

export interface Member {
  /** Null for a person who was erased after the requested instant. */
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
  /** `nextCursor` of the previous page; null for the first page. */
  cursor: string | null
}

/**
 * Returns the members by the rule in force, newest entry first. A contact who stays a member is on exactly one page,
 * whatever other contacts do: neither the time of its entry nor its id changes. Null when the cursor does not belong to
 * this list.
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
