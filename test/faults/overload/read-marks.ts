import { unpackAll } from '../unpack-all.ts'
import type { World } from '../world.ts'
import type { Marks } from './compare-marks.ts'

/** Counts the events of these businesses by their property `n`. Throws for one that is not below `most`. */
export async function readMarks({ own }: Pick<World, 'own'>, businessIds: string[], most: number): Promise<Marks> {
  const marks = { postgres: new Uint8Array(most), clickhouse: new Uint8Array(most) }
  await unpackAll(own.sql)
  const rows = own.sql<{ n: number; count: number }[]>`
    select ((line::json ->> 'properties')::json ->> 'n')::int as n, count(*)::int as count
    from outbox, string_to_table(events, E'\n') as line
    where business_ids && ${`{${businessIds.join(',')}}`}::uuid[] and line <> ''
      and (line::json ->> 'business_id')::uuid = any(${`{${businessIds.join(',')}}`}::uuid[])
    group by 1`
  await rows.cursor(10_000, (some) => add(marks.postgres, some))
  const result = await own.clickhouse.query({
    query: `select JSONExtractUInt(properties, 'n') as n, count() as count from timeline
      where business_id in {b: Array(UUID)} group by n settings output_format_json_quote_64bit_integers = 0`,
    query_params: { b: businessIds },
    format: 'JSONEachRow',
  })
  add(marks.clickhouse, await result.json<{ n: number; count: number }>())
  return marks
}

function add(marks: Uint8Array, rows: { n: number; count: number }[]): void {
  for (const { n, count } of rows) {
    if (!(n < marks.length)) throw new Error(`An event ${n} that nobody sent`)
    marks[n] = Math.min(count, 255)
  }
}
