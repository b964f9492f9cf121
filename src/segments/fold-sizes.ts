import type { SegmentDeps } from './segment-deps.ts'

/** Up to this many rows, readers add up the rows themselves. */
const MANY_ROWS = 64

/** Combines the rows that count the members of a rule into one. */
export async function foldSizes({ sql }: SegmentDeps): Promise<void> {
  const rules = await sql<{ business_id: string; segment_no: number }[]>`
    select business_id, segment_no from segment_sizes
    group by business_id, segment_no having count(*) > ${MANY_ROWS}`
  for (const { business_id, segment_no } of rules)
    await sql`
      with folded as (
        delete from segment_sizes where business_id = ${business_id} and segment_no = ${segment_no} returning members
      )
      insert into segment_sizes (business_id, segment_no, members)
      select ${business_id}, ${segment_no}, sum(members) from folded having count(*) > 0`
}
