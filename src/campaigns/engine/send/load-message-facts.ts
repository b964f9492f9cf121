/** Loads the data with which messages are rendered, for many messages at once. */
import { type Contact, readTraitValues, showIdentities, showRevenue } from '../../../contacts/read/read-contact.ts'
import { SELECT_PROFILE } from '../../../contacts/profile-columns.ts'
import { contactValues } from '../../../messages/templates/contact-values.ts'
import type { MessageContact, MessageValues } from '../../../messages/templates/values.ts'
import type { ProfileField } from '../../../rules/events/facts.ts'
import { STAGES } from '../../../rules/events/journey-stage.ts'
import type { TraitEntry } from '../../../rules/events/traits.ts'
import type { Queryable } from '../../../stores/postgres.ts'

export interface FactsKey {
  businessId: string
  /** A merged contact is replaced by its survivor. */
  contactId: string
  enrolmentId: string
}

export interface MessageFacts extends Pick<MessageValues, 'event' | 'enrolment' | 'business'> {
  contact: MessageContact
}

interface FactsRow extends Record<ProfileField, string | null> {
  name: string
  currency: string
  event: string | null
  properties: string | null
  /** Null: it has none, or messages must not contain it. */
  key: string | null
  stage: number
  traits: Record<string, TraitEntry>
  revenue: Record<string, string>
  addresses: AddressRow[]
}

/** Selected by `ADDRESSES`. */
export type AddressRow = Parameters<typeof showIdentities>[0][number]

/**
 * SQL over the contact `c`: its emails and phones, the preferred one first. For a contact with a keyed call, addresses
 * that only a page has sent are left out, because they may be a stranger's.
 */
export const ADDRESSES = `(
  select coalesce(json_agg(json_build_object('kind', i.kind, 'value', i.value, 'read', i.phone_read)
    order by i.proven desc, i.is_primary desc, i.position), '[]')
  from identities i where i.business_id = c.business_id and i.contact_id = c.id and i.kind in ('email', 'phone')
    and (i.proven or not c.keyed))`

/** In the order of the keys. Null: the contact was erased. */
export async function loadMessageFacts(sql: Queryable, keys: readonly FactsKey[]): Promise<(MessageFacts | null)[]> {
  const asked = keys.map(({ businessId, contactId, enrolmentId }, place) => ({
    place,
    business_id: businessId,
    contact_id: contactId,
    enrolment_id: enrolmentId,
  }))
  const rows = await sql<(FactsRow & { place: number })[]>`
    select x.place, b.name, b.currency, ${sql.unsafe(SELECT_PROFILE)}, c.stage, c.traits, e.event_name as event,
      e.event_properties as properties, case when e.key_hidden is not true then e.key end as key, ${sql.unsafe(ADDRESSES)} as addresses, (
        select coalesce(json_object_agg(r.currency, r.amount::text), '{}')
        from revenue r where r.business_id = c.business_id and r.contact_id = c.id
      ) as revenue
    from json_to_recordset(${JSON.stringify(asked)}::text::json) as x (place integer, business_id uuid, contact_id uuid, enrolment_id uuid)
    join contacts asked on asked.business_id = x.business_id and asked.id = x.contact_id
    join contacts c on c.business_id = x.business_id and c.id = coalesce(asked.merged_into, asked.id)
    join businesses b on b.id = x.business_id
    left join enrolments e on e.business_id = x.business_id and e.contact_id = c.id and e.id = x.enrolment_id`
  const found = new Map(rows.map(({ place, ...facts }) => [place, messageFacts(facts)]))
  return keys.map((_, place) => found.get(place) ?? null)
}

function messageFacts(row: FactsRow): MessageFacts {
  const { name, currency, event, properties, key, stage, traits, revenue, addresses, ...profile } = row
  const contact: Parameters<typeof contactValues>[0] = {
    ...profile,
    stage: STAGES[stage] ?? STAGES[0],
    customFields: readTraitValues(traits),
    identities: showIdentities(addresses) satisfies Contact['identities'],
    revenue: showRevenue(revenue, currency),
  }
  return {
    contact: contactValues(contact),
    event: event === null ? null : { name: event, properties: readProperties(properties) },
    ...(key !== null && { enrolment: { key } }),
    business: { name, currency },
  }
}

const readProperties = (properties: string | null): Record<string, unknown> =>
  properties === null ? {} : (JSON.parse(properties) as Record<string, unknown>)
