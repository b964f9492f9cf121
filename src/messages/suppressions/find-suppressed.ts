/** Finds suppressed addresses, for senders. */
import type { ChannelAddress } from '../../rules/messages/suppression.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { MessageKey } from '../message-key.ts'
import { hashesOf } from './hash-address.ts'

export interface BusinessAddress extends ChannelAddress {
  businessId: string
}

/**
 * Returns for each address, in order, whether it is suppressed for any reason. One statement, also in a transaction.
 */
export async function findSuppressed(
  sql: Queryable,
  key: MessageKey,
  addresses: readonly BusinessAddress[],
): Promise<boolean[]> {
  if (addresses.length === 0) return []
  const rows = await sql<{ place: number }[]>`
    select asked.place from ${askedHashes(sql, key, addresses)}
    where exists (
      select from suppressions s
      where s.address_hash = decode(asked.hash, 'hex') and s.business_id::text = asked.business_id
    )`
  const suppressed = new Set(rows.map(({ place }) => place))
  return addresses.map((_, at) => suppressed.has(at))
}

/** A table `asked` of the hashes of each address: `place`, `business_id`, `hash`. */
export function askedHashes(sql: Queryable, key: MessageKey, addresses: readonly BusinessAddress[]) {
  const asked = addresses.flatMap((one, place) =>
    hashesOf(key, one.businessId, one).map((hash) => ({ place, hash, businessId: one.businessId })),
  )
  const places = listOf(asked.map(({ place }) => String(place)))
  const businesses = listOf(asked.map(({ businessId }) => businessId))
  return sql`
    unnest(${places}::text::int[], ${businesses}::text::text[], ${listOf(asked.map(({ hash }) => hash))}::text::text[])
      as asked (place, business_id, hash)`
}

/** A Postgres array literal. Only for ids, hashes and constants: nothing is escaped. */
export const listOf = (words: readonly string[]): string => `{${words.join(',')}}`
