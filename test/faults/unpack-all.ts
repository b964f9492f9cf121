import type { Sql } from '../../src/stores/postgres.ts'
import { unpackRows } from '../../src/outbox/unpack-rows.ts'

/** For queries that read the events in the outbox. */
export async function unpackAll(sql: Sql): Promise<void> {
  const packed = await sql<{ id: number }[]>`select id from outbox where unpacked_bytes is not null`
  await unpackRows(
    sql,
    packed.map(({ id }) => id),
  )
}
