/** Erases the messages of calls to an address of no contact. */
import { type Change, recordAudit } from '../audit/audit.ts'
import { readChannelAddress } from '../rules/messages/suppression.ts'
import type { Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'

/** Per call: an erasure locks the messages that wait. */
export const MAX_ERASED = 10_000

export interface AddressErased {
  erased: number
  /** Some are left. */
  hasMore: boolean
}

/**
 * Messages to a contact are left: they are erased with the contact. `country`: that of the business, for national phone
 * numbers. Null: the text is neither an email nor a phone number.
 */
export async function eraseAddress(
  sql: Sql,
  { businessId, actor, country }: Change & { country: string | null },
  text: string,
): Promise<AddressErased | null> {
  const read = [readChannelAddress('email', text, country), readChannelAddress('whatsapp', text, country)]
  const addresses = read.flatMap((one) => (one === null ? [] : [one.address]))
  if (addresses.length === 0) return null
  return await inTransaction(sql, async (tx) => {
    const rows = await tx<{ id: string }[]>`
      select message_id as id from calls
      where business_id = ${businessId} and address in ${tx(addresses)} order by message_id limit ${MAX_ERASED + 1}`
    const ids = rows.slice(0, MAX_ERASED).map(({ id }) => id)
    await tx`
      delete from whatsapp_ids w
      where w.business_id = ${businessId} and (w.address in ${tx(addresses)} or w.wa_id in ${tx(addresses)})
        and not exists (
          select from identities i where i.business_id = w.business_id and i.kind = 'phone' and i.value = w.address
        )`
    if (ids.length === 0) return { erased: 0, hasMore: false }
    await tx`select erase_calls(${businessId}, ${`{${ids.join(',')}}`}::text::uuid[])`
    const details = { erased: ids.length }
    await recordAudit(tx, { businessId, actor, action: 'message.erase', target: null, details })
    return { erased: ids.length, hasMore: rows.length > ids.length }
  })
}
