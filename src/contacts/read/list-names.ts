import type { IdentityKind } from '../../rules/events/facts.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type Contact, showIdentities } from './read-contact.ts'

/** The parts of a contact by which people recognise it. */
export type NamedContact = Pick<Contact, 'contactId' | 'firstName' | 'lastName' | 'identities'>

type Row = Omit<NamedContact, 'identities'> & { identities: { kind: IdentityKind; value: string; read: boolean }[] }

/** Lists the names in any order, without contacts that no longer exist or were merged into others. */
export async function listNames(sql: Sql, businessId: string, ids: readonly string[]): Promise<NamedContact[]> {
  const rows = await sql<Row[]>`
    select c.id as "contactId", c.first_name as "firstName", c.last_name as "lastName", (
      select coalesce(json_agg(json_build_object('kind', i.kind, 'value', i.value, 'read', i.phone_read) order by i.proven desc, i.is_primary desc, i.position), '[]')
      from identities i where i.business_id = c.business_id and i.contact_id = c.id
    ) as identities
    from unnest(${`{${ids.join(',')}}`}::uuid[]) as wanted (id)
    join contacts c on c.business_id = ${businessId} and c.id = wanted.id
    where c.merged_into is null`
  return rows.map(({ identities, ...row }) => ({ ...row, identities: showIdentities(identities) }))
}
