import type { Sql } from '../stores/postgres.ts'
import { unpackEvents } from './pack-events.ts'

/**
 * Rewrites packed outbox rows as lines, for statements that search them. The rows stay unpacked. Packed rows never
 * change in any other way, so a second caller finds nothing to do.
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
