/** Stops or resumes messages to a phone, as its owner has written. */
import { createHash } from 'node:crypto'
import type { ChannelAddress } from '../../rules/messages/suppression.ts'
import type { Queryable } from '../../stores/postgres.ts'
import type { ChannelKey } from '../channels/channels.ts'
import type { MessageKey } from '../message-key.ts'
import { hashesOf } from '../suppressions/hash-address.ts'
import { liftStop } from '../suppressions/lift.ts'
import { lockCount, suppress } from '../suppressions/suppress.ts'
import type { WordFact } from './callbacks.ts'
import { type NotedWord, newestWord, noteWord } from './noted-words.ts'
import { addressesOf } from './whatsapp-ids.ts'

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
  const reply = createHash('sha256').update(replyId).digest('hex').slice(0, 32)
  const noted = { word, reply, at: Math.max(0, Math.min(at, receivedAt)) }
  // Two replies at once take turns, and so does an id of WhatsApp that is being kept.
  await lockCount(tx, businessId)
  for (const address of await addressesOf(tx, { businessId, channel }, written))
    await applyTo(tx, key, { businessId, now: receivedAt }, address, noted)
}

async function applyTo(
  tx: Queryable,
  key: MessageKey,
  { businessId, now }: { businessId: string; now: number },
  address: ChannelAddress,
  noted: NotedWord,
): Promise<void> {
  const [own = '', ...others] = hashesOf(key, businessId, address)
  if (!(await noteWord(tx, { businessId, channel: address.channel }, own, noted))) return
  if ((await newestWord(tx, [own, ...others]))?.reply !== noted.reply) return
  if (noted.word === 'stop') await suppress(tx, key, { businessId, now }, [{ ...address, reason: 'stop' }])
  else await liftStop(tx, key, { businessId, ...address })
}
