import type { Queryable, Sql } from '../stores/postgres.ts'
import { listFieldTypes } from './load-definitions.ts'
import { type ListedSegment, type Segment, type SegmentRow, segmentColumns, toSegment } from './segment.ts'

/** Oldest first, at most MAX_SEGMENTS. */
export async function listSegments(sql: Sql, businessId: string): Promise<ListedSegment[]> {
  const [fields, rows] = await Promise.all([
    listFieldTypes(sql, businessId),
    sql<SegmentRow[]>`
      select ${segmentColumns(sql)} from segments s where s.business_id = ${businessId} order by s.created_at, s.id`,
  ])
  return rows.map((row) => {
    const { rule: _, ...listed } = toSegment(row, fields)
    return listed
  })
}

/** Returns null when the business has no segment with this id. `segmentId` is a UUID. */
export async function readSegment(sql: Queryable, businessId: string, segmentId: string): Promise<Segment | null> {
  const [row] = await sql<SegmentRow[]>`
    select ${segmentColumns(sql)} from segments s where s.business_id = ${businessId} and s.id = ${segmentId}`
  return row === undefined ? null : toSegment(row, await listFieldTypes(sql, businessId))
}

export async function hasSegment(sql: Queryable, businessId: string, segmentId: string): Promise<boolean> {
  const rows = await sql`select from segments where business_id = ${businessId} and id = ${segmentId}`
  return rows.length > 0
}
