import { readContact } from '../../contacts/read/read-contact.ts'
import { loadContactValues } from '../../messages/templates/load-contact-values.ts'
import { longestWindow } from '../../rules/campaigns/caps.ts'
import { type Cap, type Definition, MAX_AT_MOST } from '../../rules/campaigns/definition.ts'
import type { CountedSend } from '../../rules/campaigns/follow-enrolment.ts'
import { readHasPush } from '../../messages/push/subscriptions.ts'
import { MESSAGE_CHANNELS } from '../../rules/messages/message-channel.ts'
import type { Definitions } from '../../segments/load-definitions.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { Person } from './person.ts'
import { type FactDeps, readBranchFacts } from './read-branch-facts.ts'

export interface PersonKey {
  businessId: string
  /** A UUID. A merged contact is replaced by its survivor. */
  contactId: string
}

/**
 * Loads the present data of a contact, with the messages that it got up to `from` (epoch milliseconds). Null when the
 * business has no such contact, and `unavailable` when the timeline does not answer the counts of its branches.
 */
export async function loadPerson(
  deps: FactDeps,
  { businessId, contactId: asked }: PersonKey,
  { steps, caps }: Pick<Definition, 'steps' | 'caps'>,
  { definitions, from, now }: { definitions: Definitions; from: number; now: number },
): Promise<Person | null | 'unavailable'> {
  const { sql } = deps
  const { currency } = definitions
  const contact = await readContact(sql, { businessId, contactId: asked, currency })
  if (contact === null) return null
  const { contactId, subscriptions } = contact
  const facts = await readBranchFacts(deps, { businessId, contactId }, steps, { definitions, now })
  if (facts === null || facts === 'unavailable') return facts
  return {
    contactId,
    values: await loadContactValues(sql, businessId, contact),
    facts,
    subscriptions,
    ...(await readAddresses(sql, { businessId, contactId })),
    hasPush: await readHasPush(sql, { businessId, contactId }),
    sent: await readSent(sql, { businessId, contactId }, caps, from),
  }
}

/** Decides as claims do: for a contact with a keyed call, addresses that only a page has sent are left out. */
async function readAddresses(
  sql: Sql,
  { businessId, contactId }: PersonKey,
): Promise<Pick<Person, 'emails' | 'phones'>> {
  const rows = await sql<{ kind: 'email' | 'phone'; value: string }[]>`
    select i.kind, i.value
    from identities i join contacts c on c.business_id = i.business_id and c.id = i.contact_id
    where i.business_id = ${businessId} and i.contact_id = ${contactId} and (i.kind = 'email' or (i.kind = 'phone' and i.phone_read))
      and (i.proven or not c.keyed)
    order by i.proven desc, i.is_primary desc, i.position`
  const valuesOf = (kind: 'email' | 'phone') => rows.flatMap((row) => (row.kind === kind ? [row.value] : []))
  return { emails: valuesOf('email'), phones: valuesOf('phone') }
}

/** For each channel, as many of the newest messages as a cap can count. */
async function readSent(
  sql: Sql,
  { businessId, contactId }: PersonKey,
  caps: readonly Cap[],
  from: number,
): Promise<readonly CountedSend[]> {
  const window = Math.max(...MESSAGE_CHANNELS.map((channel) => longestWindow(caps, channel)))
  if (window === 0) return []
  return sql<CountedSend[]>`
    select channel, claimed_at as at
    from (
      select m.channel, m.claimed_at, row_number() over (partition by m.channel order by m.claimed_at desc) as place
      from messages m
      where m.business_id = ${businessId} and m.contact_id = ${contactId} and m.channel = any (${`{${MESSAGE_CHANNELS.join(',')}}`}::text[])
        and m.claimed_at > ${from - window} and m.claimed_at <= ${from} and m.state not in ('failed', 'skipped')
        and m.enrolment_id is not null
    ) newest
    where place <= ${MAX_AT_MOST}`
}
