import type { Contact } from '../../contacts/read/read-contact.ts'
import type { ProfileField } from '../../rules/events/facts.ts'
import type { MessageContact } from './values.ts'

/** The values of a contact for templates. `identities`: see `loadContactValues`. */
type ReadContact = Pick<Contact, ProfileField | 'stage' | 'customFields' | 'identities' | 'revenue'>

export function contactValues(contact: ReadContact): MessageContact {
  const { firstName, lastName, country, city, language, timezone, stage, customFields, identities, revenue } = contact
  const [email = null] = identities.email
  const [phone = null] = identities.phone
  const profile = { firstName, lastName, country, city, language, timezone }
  return { ...profile, email, phone, stage, revenue: revenue.total, customFields }
}

/** A contact without known values. */
export const UNKNOWN_CONTACT: MessageContact = {
  firstName: null,
  lastName: null,
  email: null,
  phone: null,
  country: null,
  city: null,
  language: null,
  timezone: null,
  stage: '',
  revenue: 0,
  customFields: {},
}
