import type { AddressChannel, ChannelAddress, SuppressionReason } from '../../rules/messages/suppression.ts'
import type { Sql } from '../../stores/postgres.ts'
import { loadMessageKey } from '../message-key.ts'
import { listOf } from './find-suppressed.ts'
import { hashesOf } from './hash-address.ts'

/** As callers see it. */
export interface Suppression {
  suppressionId: string
  channel: AddressChannel
  reason: SuppressionReason
  /** ISO 8601 UTC. */
  at: string
}

/** Null omits a condition. `addresses`: one address, as each channel reads it. */
export interface SuppressionFilter {
  channel: AddressChannel | null
  reason: SuppressionReason | null
  addresses: readonly ChannelAddress[] | null
}

/** Newest first. `before`: the page begins below this id; null for the first page. */
export async function listSuppressions(
  sql: Sql,
  { businessId, before, limit }: { businessId: string; before: string | null; limit: number },
  { channel, reason, addresses }: SuppressionFilter,
): Promise<Suppression[]> {
  const key = await loadMessageKey(sql)
  const hashes = addresses && listOf(addresses.flatMap((one) => hashesOf(key, businessId, one)))
  const rows = await sql<(Omit<Suppression, 'at'> & { at: number })[]>`
    select id as "suppressionId", channel, reason, suppressed_at as at
    from ${
      // By the hash first, whatever size Postgres assumes for the table.
      hashes === null
        ? sql`suppressions`
        : sql`(
            select s.* from unnest(${hashes}::text::text[]) as asked (hash)
            join suppressions s on s.address_hash = decode(asked.hash, 'hex') offset 0
          ) as found`
    }
    where business_id = ${businessId} and id < ${before ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'}
      ${channel === null ? sql`` : sql`and channel = ${channel}`}
      ${reason === null ? sql`` : sql`and reason = ${reason}`}
    order by id desc limit ${limit}`
  return rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }))
}
