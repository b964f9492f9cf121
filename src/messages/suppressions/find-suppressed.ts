/** Finds suppressed addresses, for senders. */
import type { ChannelAddress } from '../../rules/messages/suppression.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { MessageKey } from '../message-key.ts'
import { hashAddress } from './hash-address.ts'

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
  const businesses = addresses.map(({ businessId }) => businessId)
  const hashes = addresses.map((asked) => hashAddress(key, asked.businessId, asked))
  const rows = await sql<{ place: number }[]>`
    select asked.place
    from unnest(${listOf(businesses)}::text::text[], ${listOf(hashes)}::text::text[])
      with ordinality as asked (business_id, hash, place)
    where exists (
      select from suppressions s
      where s.address_hash = decode(asked.hash, 'hex') and s.business_id::text = asked.business_id
    )`
  const suppressed = new Set(rows.map(({ place }) => place - 1))
  return addresses.map((_, at) => suppressed.has(at))
}

/** A Postgres array literal. Only for ids, hashes and constants: nothing is escaped. */
export const listOf = (words: readonly string[]): string => `{${words.join(',')}}`
