/**
 * The latest words STOP and START of each address. Call these in a transaction that has locked the count of
 * suppressions.
 */
import type { StopWord } from '../../rules/messages/stop-words.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelKey } from '../channels/channels.ts'
import { listOf } from '../suppressions/find-suppressed.ts'

/** Number of replies that are kept per address, the newest ones. Older ones could change nothing. */
const MAX_WORDS = 20

/** `reply`: a hash of the provider's id of the reply, in hex. `at`: epoch milliseconds. */
export interface NotedWord {
  word: StopWord
  reply: string
  at: number
}

/** Returns false when the reply was noted before. `hash`: of the address, in hex. */
export async function noteWord(
  tx: Queryable,
  { businessId, channel }: ChannelKey,
  hash: string,
  { word, reply, at }: NotedWord,
): Promise<boolean> {
  const { count } = await tx`
    insert into stop_words (business_id, channel, address_hash, reply_hash, word, at)
    values (${businessId}, ${channel}, decode(${hash}, 'hex'), decode(${reply}, 'hex'), ${word}, ${at})
    on conflict do nothing`
  return count > 0
}

/** Notes the words of one address for another one, too. Hashes of all forms of `from`; the own one of `to`. */
export async function copyWords(tx: Queryable, from: readonly string[], to: string): Promise<void> {
  await tx`
    insert into stop_words (business_id, channel, address_hash, reply_hash, word, at)
    select business_id, channel, decode(${to}, 'hex'), reply_hash, word, at from stop_words
    where address_hash in (select decode(hash, 'hex') from unnest(${listOf(from)}::text::text[]) as own (hash))
    on conflict do nothing`
}

/**
 * Returns the word that counts for an address, whose forms have these hashes; null when there is none. Of two at the
 * same instant, it is STOP. Deletes older ones beyond the limit.
 */
export async function newestWord(
  tx: Queryable,
  hashes: readonly string[],
): Promise<Pick<NotedWord, 'word' | 'reply'> | null> {
  const ofAddress = tx`address_hash in (select decode(hash, 'hex') from unnest(${listOf(hashes)}::text::text[]) as own (hash))`
  const [newest] = await tx<Pick<NotedWord, 'word' | 'reply'>[]>`
    select word, encode(reply_hash, 'hex') as reply from stop_words where ${ofAddress}
    order by at desc, word desc, reply_hash limit 1`
  await tx`
    delete from stop_words where ${ofAddress} and reply_hash in (
      select reply_hash from stop_words where ${ofAddress} order by at desc, word desc, reply_hash offset ${MAX_WORDS})`
  return newest ?? null
}
