/** The values that a template reads. */
export interface MessageContact {
  firstName: string | null
  lastName: string | null
  email: string | null
  phone: string | null
  country: string | null
  city: string | null
  language: string | null
  timezone: string | null
  stage: string
  /** In the default currency of the business. */
  revenue: number
  customFields: Record<string, unknown>
}

export interface MessageValues {
  contact: MessageContact
  /** The event that triggered the campaign. */
  event: { name: string; properties: Record<string, unknown> } | null
  /** Of a send call, as the next one. */
  data?: Record<string, unknown>
  /** Of the variant. Otherwise it is that of the contact. */
  language?: string
  /** `key`: what the enrolment is about, such as an order; else empty. Messages from before it have none. */
  enrolment?: { key: string }
  unsubscribeUrl: string
  preferencesUrl: string
  /** For a mail that asks for a confirmation. */
  confirmUrl?: string
  business: MessageBusiness
}

export interface MessageBusiness {
  name: string
  /** Of amounts without another one. Messages that were sent before it was kept have none. */
  currency?: string
}

/** Values as templates read them: a first name of white space is none, and an event is always there. */
export function fillIn(values: MessageValues): object {
  const { contact, event, enrolment = { key: '' }, data = {} } = values
  const firstName = contact.firstName?.trim() || null
  const always = { event: event ?? { name: '', properties: {} }, enrolment, data }
  return { ...values, contact: { ...contact, firstName }, ...always }
}
