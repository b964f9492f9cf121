/** Stops or resumes messages to a phone, as its owner has written. */
import { createHash } from 'node:crypto'
import { readChannelAddress } from '../../rules/messages/suppression.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelKey } from '../channels/channels.ts'
import type { MessageKey } from '../message-key.ts'
import { listOf } from '../suppressions/find-suppressed.ts'
import { hashesOf } from '../suppressions/hash-address.ts'
import { liftStop } from '../suppressions/lift.ts'
import { lockCount, suppress } from '../suppressions/suppress.ts'
import type { WordFact } from './callbacks.ts'

/** Number of replies that are kept per address, the newest ones. Older ones could change nothing. */
const MAX_WORDS = 20

/**
 * The newest reply counts, whatever the order and however often they arrive, and in whatever form of the number. Call it
 * in a transaction. `receivedAt`: epoch milliseconds.
 */
export async function applyWord(
  tx: Queryable,
  key: MessageKey,
  { businessId, channel }: ChannelKey,
  { word, address: written, replyId, at }: WordFact,
  receivedAt: number,
): Promise<void> {
  if (channel !== 'sms' && channel !== 'whatsapp') return
  const address = readChannelAddress(channel, written, null)
  if (address === null) return
  const [own = '', ...others] = hashesOf(key, businessId, address)
  const reply = createHash('sha256').update(replyId).digest('hex').slice(0, 32)
  // Two replies at once take turns.
  await lockCount(tx, businessId)
  const { count } = await tx`
    insert into stop_words (business_id, channel, address_hash, reply_hash, word, at)
    values (${businessId}, ${channel}, decode(${own}, 'hex'), decode(${reply}, 'hex'), ${word},
      ${Math.max(0, Math.min(at, receivedAt))})
    on conflict do nothing`
  if (count === 0) return
  if (!(await isNewest(tx, [own, ...others], reply))) return
  if (word === 'stop') await suppress(tx, key, { businessId, now: receivedAt }, [{ ...address, reason: 'stop' }])
  else await liftStop(tx, key, { businessId, ...address })
}

/** Deletes older replies beyond the limit. Of two at the same instant, STOP counts. */
async function isNewest(tx: Queryable, hashes: readonly string[], reply: string): Promise<boolean> {
  const ofAddress = tx`address_hash in (select decode(hash, 'hex') from unnest(${listOf(hashes)}::text::text[]) as own (hash))`
  const [newest] = await tx<{ reply: string }[]>`
    select encode(reply_hash, 'hex') as reply from stop_words where ${ofAddress}
    order by at desc, word desc, reply_hash limit 1`
  await tx`
    delete from stop_words where ${ofAddress} and reply_hash in (
      select reply_hash from stop_words where ${ofAddress} order by at desc, word desc, reply_hash offset ${MAX_WORDS})`
  return newest?.reply === reply
}
