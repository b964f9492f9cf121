/** Stops or resumes messages to a phone, as its owner has written. */
import { createHash } from 'node:crypto'
import { readChannelAddress } from '../../rules/messages/suppression.ts'
import type { Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { ChannelKey } from '../channels/channels.ts'
import { loadMessageKey } from '../message-key.ts'
import { hashAddress } from '../suppressions/hash-address.ts'
import { liftStop } from '../suppressions/lift.ts'
import { lockCount, suppress } from '../suppressions/suppress.ts'
import type { CallbackFact } from './callbacks.ts'

/** Number of replies that are kept per address, the newest ones. Older ones could change nothing. */
const MAX_WORDS = 20

/** The newest reply counts, whatever the order and however often they arrive. `receivedAt`: epoch milliseconds. */
export async function applyWord(
  sql: Sql,
  { businessId, channel }: ChannelKey,
  { word, address: written, replyId, at }: Extract<CallbackFact, { kind: 'word' }>,
  receivedAt: number,
): Promise<void> {
  if (channel !== 'sms' && channel !== 'whatsapp') return
  const address = readChannelAddress(channel, written, null)
  if (address === null) return
  const key = await loadMessageKey(sql)
  const hash = hashAddress(key, businessId, address)
  const reply = createHash('sha256').update(replyId).digest('hex').slice(0, 32)
  await inTransaction(sql, async (tx) => {
    // Two replies at once take turns.
    await lockCount(tx, businessId)
    const { count } = await tx`
      insert into stop_words (business_id, channel, address_hash, reply_hash, word, at)
      values (${businessId}, ${channel}, decode(${hash}, 'hex'), decode(${reply}, 'hex'), ${word},
        ${Math.max(0, Math.min(at, receivedAt))})
      on conflict do nothing`
    if (count === 0) return
    // Of two at the same instant, STOP counts.
    const [newest] = await tx<{ reply: string }[]>`
      select encode(reply_hash, 'hex') as reply from stop_words where address_hash = decode(${hash}, 'hex')
      order by at desc, word desc, reply_hash limit 1`
    await tx`
      delete from stop_words where address_hash = decode(${hash}, 'hex') and reply_hash in (
        select reply_hash from stop_words where address_hash = decode(${hash}, 'hex')
        order by at desc, word desc, reply_hash offset ${MAX_WORDS})`
    if (newest?.reply !== reply) return
    if (word === 'stop') await suppress(tx, key, { businessId, now: receivedAt }, [{ ...address, reason: 'stop' }])
    else await liftStop(tx, key, { businessId, ...address })
  })
}
