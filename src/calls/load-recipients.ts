/** Loads what a message needs to know of its contact to find the address that it goes to. */
import { type AddressRow, ADDRESSES } from '../campaigns/engine/send/load-message-facts.ts'
import type { Queryable } from '../stores/postgres.ts'

export interface Recipient {
  /** The survivor. */
  contactId: string
  language: string | null
  /** The primary one first. As in `MoveFacts`. */
  emails: string[]
  phones: string[]
  /** Whether a browser of the contact accepts push messages. Null: not needed, or the channel has no addresses. */
  hasPush: boolean | null
}

export interface RecipientKey {
  businessId: string
  contactId: string
  needsPush: boolean
}

/** In the order of the keys. Null: the contact is unknown, or was erased. */
export async function loadRecipients(sql: Queryable, keys: readonly RecipientKey[]): Promise<(Recipient | null)[]> {
  if (keys.length === 0) return []
  const asked = keys.map(({ businessId, contactId, needsPush }, place) => ({
    place,
    business_id: businessId,
    contact_id: contactId,
    pushes: needsPush,
  }))
  const rows = await sql<(Omit<Recipient, 'emails' | 'phones'> & { place: number; addresses: AddressRow[] })[]>`
    select x.place, c.id as "contactId", c.language, ${sql.unsafe(ADDRESSES)} as addresses,
      case when x.pushes and exists (
          select from channels h where h.business_id = x.business_id and h.channel = 'push' and h.provider = 'webpush'
        ) then exists (select from find_push_subscriptions(c.business_id, c.id)) end as "hasPush"
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (place integer, business_id uuid, contact_id uuid, pushes boolean)
    join contacts asked on asked.business_id = x.business_id and asked.id = x.contact_id
    join contacts c on c.business_id = x.business_id and c.id = coalesce(asked.merged_into, asked.id)`
  const found = new Map(rows.map(({ place, addresses, ...one }) => [place, { ...one, ...split(addresses) }]))
  return keys.map((_, place) => found.get(place) ?? null)
}

const split = (addresses: readonly AddressRow[]): Pick<Recipient, 'emails' | 'phones'> => ({
  emails: addresses.flatMap(({ kind, value }) => (kind === 'email' ? [value] : [])),
  phones: addresses.flatMap(({ kind, value, read }) => (kind === 'phone' && read ? [value] : [])),
})
