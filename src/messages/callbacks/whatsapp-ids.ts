/**
 * WhatsApp's id of a person is not always the number that a message went to, and a reply brings only the id. So the id
 * in the answer to a message is kept beside the address, and the words of the person hold for both.
 */
import { formsOf, readWhatsappId } from '../../rules/messages/number-forms.ts'
import { type ChannelAddress, readChannelAddress } from '../../rules/messages/suppression.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { OutgoingMessage } from '../channels/provider.ts'
import { type MessageKey, loadMessageKey } from '../message-key.ts'
import { listOf } from '../suppressions/find-suppressed.ts'
import { hashesOf } from '../suppressions/hash-address.ts'
import { lockCount, suppress } from '../suppressions/suppress.ts'
import { copyWords, newestWord } from './noted-words.ts'

/** Addresses per id: each word is applied to all of them. A person has one number in a few forms. */
export const MAX_ADDRESSES = 10

/** The outcome of a message waits for it. */
const LOCK_MS = 2000

interface KnownId {
  businessId: string
  address: string
  waId: string
}

/**
 * Keeps the id of the recipient in the answer to a message. Writes nothing when the id is known, or is a form of the
 * address. `now`: epoch milliseconds.
 */
export async function keepWhatsappId(
  sql: Sql,
  { businessId, channel, contactId, to }: Pick<OutgoingMessage, 'businessId' | 'channel' | 'contactId' | 'to'>,
  recipientId: string | undefined,
  now: number,
): Promise<void> {
  const [address, waId] = [readWhatsappId(to ?? ''), readWhatsappId(recipientId ?? '')]
  if (address === null || waId === null || formsOf(channel, address).includes(waId)) return
  const one = { businessId, address, waId }
  if (await isKept(sql, one)) return
  const key = await loadMessageKey(sql)
  await inTransaction(sql, async (tx) => {
    await tx`select set_config('lock_timeout', ${`${LOCK_MS}ms`}, true)`
    // An erasure deletes the contact before it deletes the ids: afterwards, none is kept.
    if (contactId !== null && !(await lockContact(tx, { businessId, contactId }))) return
    await lockCount(tx, businessId)
    if (await insert(tx, one)) await applyEarlier(tx, key, one, now)
  })
}

async function isKept(sql: Queryable, { businessId, address, waId }: KnownId): Promise<boolean> {
  const found = await sql`
    select from whatsapp_ids where business_id = ${businessId} and address = ${address} and wa_id = ${waId}`
  return found.length > 0
}

/** Returns false when the contact was erased. */
async function lockContact(
  tx: Queryable,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<boolean> {
  const found = await tx`
    select from contacts where business_id = ${businessId} and id = ${contactId} for key share`
  return found.length > 0
}

/** Returns false when it is known, or the id has `MAX_ADDRESSES`. */
async function insert(tx: Queryable, { businessId, address, waId }: KnownId): Promise<boolean> {
  const { count } = await tx`
    insert into whatsapp_ids (business_id, address, wa_id)
    select ${businessId}, ${address}, ${waId}
    where (select count(*) from whatsapp_ids where business_id = ${businessId} and wa_id = ${waId}) < ${MAX_ADDRESSES}
    on conflict do nothing`
  return count > 0
}

/** The person may have written before the answer was recorded. A STOP that has been lifted since does not return. */
async function applyEarlier(
  tx: Queryable,
  key: MessageKey,
  { businessId, address, waId }: KnownId,
  now: number,
): Promise<void> {
  const sent = { channel: 'whatsapp', address } as const
  const hashes = hashesOf(key, businessId, sent)
  const ofId = hashesOf(key, businessId, { channel: 'whatsapp', address: waId })
  await copyWords(tx, ofId, hashes[0] ?? '')
  const [stopped] = await tx`
    select from suppressions
    where address_hash in (select decode(hash, 'hex') from unnest(${listOf(ofId)}::text::text[]) as own (hash))
      and reason = 'stop' and business_id::text = ${businessId}
    limit 1`
  if (stopped === undefined || (await newestWord(tx, hashes))?.word === 'start') return
  await suppress(tx, key, { businessId, now }, [{ ...sent, reason: 'stop' }])
}

/**
 * Returns the addresses of a person who has written: what the reply says that it is from, and what messages to the person
 * went to.
 */
export async function addressesOf(
  tx: Queryable,
  { businessId, channel }: { businessId: string; channel: 'sms' | 'whatsapp' },
  from: string,
): Promise<ChannelAddress[]> {
  const number = readChannelAddress(channel, from, null)
  const waId = channel === 'whatsapp' ? readWhatsappId(from) : null
  if (waId === null) return number === null ? [] : [number]
  const kept = await tx<{ address: string }[]>`
    select distinct address from whatsapp_ids
    where business_id = ${businessId} and wa_id = any (${listOf(formsOf('whatsapp', waId))}::text::text[])`
  // An id may be a number of former times, which nobody can call.
  const own = number ?? { channel, address: waId }
  return [own, ...kept.map(({ address }) => ({ channel, address }))]
}
