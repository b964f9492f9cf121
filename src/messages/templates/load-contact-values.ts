import { type Contact, showIdentities } from '../../contacts/read/read-contact.ts'
import type { Sql } from '../../stores/postgres.ts'
import { contactValues } from './contact-values.ts'
import type { MessageContact } from './values.ts'

/**
 * Returns the values of a contact for templates. For a contact with a keyed call, an email and a phone that only a page
 * has sent are left out, because they may be a stranger's.
 */
export async function loadContactValues(sql: Sql, businessId: string, contact: Contact): Promise<MessageContact> {
  const rows = await sql<Parameters<typeof showIdentities>[0]>`
    select i.kind, i.value, i.phone_read as read
    from identities i join contacts c on c.business_id = i.business_id and c.id = i.contact_id
    where i.business_id = ${businessId} and i.contact_id = ${contact.contactId} and i.kind in ('email', 'phone')
      and (i.proven or not c.keyed)
    order by i.proven desc, i.is_primary desc, i.position`
  return contactValues({ ...contact, identities: showIdentities([...rows]) })
}
