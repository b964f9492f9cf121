/**
 * The size of a segment must be the number of its members. Both are read and corrected as of one instant, because each
 * save changes both together.
 */
import type { BusinessKind, Fragment } from './kind.ts'
import type { Sql } from '../../stores/postgres.ts'

interface WrongSize {
  segmentId: string
  no: number
  members: number
  size: number
}

export const SEGMENT_SIZE: BusinessKind<WrongSize> = {
  name: 'segment size',
  values: 'none',
  part: 'segment sizes',
  async *find({ sql }, businessId) {
    yield {
      items: await sql<WrongSize[]>`
        select segment_id as "segmentId", no, members, size from (${countBoth(sql, businessId)}) counted where members <> size`,
    }
  },
  describe: ({ segmentId, members, size }) => ({
    segmentId,
    name: `of segment ${segmentId}`,
    postgres: String(size),
    note: `is ${size}, but the segment has ${members} ${members === 1 ? 'member' : 'members'}`,
    wrong: 'postgres',
  }),
  async repair({ writer }, businessId, wrong) {
    const numbers = JSON.stringify(wrong.map(({ no }) => no))
    // Adds a row, as saves do. Concurrent saves add their own rows.
    const { count } = await writer`
      insert into segment_sizes (business_id, segment_no, members)
      select ${businessId}, no, members - size from (${countBoth(writer, businessId)}) counted
      where members <> size and no in (select json_array_elements_text(${numbers}::text::json)::bigint)`
    return { sizes: count }
  },
}

const countBoth = (sql: Sql, businessId: string): Fragment => sql`
  select r.segment_id, r.no,
    (select count(*) from segment_members m where m.business_id = r.business_id and m.segment_no = r.no and m.cause <> '') as members,
    (select coalesce(sum(z.members), 0)::bigint from segment_sizes z
      where z.business_id = r.business_id and z.segment_no = r.no) as size
  from segment_rules r where r.business_id = ${businessId} and r.state = 'current' and r.switched_at is null`
