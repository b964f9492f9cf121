import type { Sql } from '../stores/postgres.ts'
import { unpackEvents } from './pack-events.ts'

/**
 * Writes packed rows of the outbox out as lines, for statements that look into them. They stay so: what is packed never
 * changes otherwise, so that whoever comes second finds nothing to do.
 */
export async function unpackRows(sql: Sql, ids: number[]): Promise<void> {
  for (const id of ids) {
    const [row] = await sql<{ events: string }[]>`
      select events from outbox where id = ${id} and unpacked_bytes is not null`
    if (!row) continue
    await sql`
      update outbox set events = ${unpackEvents(row.events)}, unpacked_bytes = null
      where id = ${id} and unpacked_bytes is not null`
  }
}
