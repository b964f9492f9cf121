/** Since when addresses get no message. */
import type { Queryable } from '../../stores/postgres.ts'
import type { MessageKey } from '../message-key.ts'
import { type BusinessAddress, askedHashes } from './find-suppressed.ts'

/**
 * Returns for each address, in order, the instant (epoch milliseconds) of its earliest suppression in force. Null: it
 * is not suppressed.
 */
export async function findSuppressedAt(
  sql: Queryable,
  key: MessageKey,
  addresses: readonly BusinessAddress[],
): Promise<(number | null)[]> {
  if (addresses.length === 0) return []
  const rows = await sql<{ place: number; since: number }[]>`
    select asked.place, min(s.suppressed_at) as since
    from ${askedHashes(sql, key, addresses)}
    join suppressions s on s.address_hash = decode(asked.hash, 'hex') and s.business_id::text = asked.business_id
    group by asked.place`
  const since = new Map(rows.map((row) => [row.place, row.since]))
  return addresses.map((_, at) => since.get(at) ?? null)
}
