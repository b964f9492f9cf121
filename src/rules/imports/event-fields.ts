/**
 * The fields of an event that a file of past events can hold. The mapping of an import, the help of its command and the
 * page of imports follow this list.
 */

/** How the text of a cell becomes the value of a field. */
export type Conversion = 'text' | 'number' | 'boolean' | 'time' | 'list' | 'choice'

interface EventField {
  conversion: Conversion
  /** Names of columns that hold the field, without all but the letters a to z. Null: the page does not offer the field. */
  columns: RegExp | null
}

/** In the order in which the page lists them. The first field that a column fits gets it. */
export const EVENT_FIELDS = {
  event: { conversion: 'text', columns: /^event(name)?$/ },
  occurredAt: { conversion: 'time', columns: /^(occurredat|date|time|timestamp|createdat|datetime|at|when)$/ },
  'identity.email': { conversion: 'text', columns: /^e?mail(address)?$/ },
  'identity.phone': { conversion: 'text', columns: /^(phone|mobile|tel|telephone)(number)?$/ },
  'identity.platformCustomerId': {
    conversion: 'text',
    columns: /^(platformcustomerid|customer|customerid|userid|user|contactid)$/,
  },
  type: { conversion: 'text', columns: /^type$/ },
  value: { conversion: 'number', columns: /^(value|amount|price|total|revenue)$/ },
  currency: { conversion: 'text', columns: /^currency(code)?$/ },
  tags: { conversion: 'list', columns: /^tags?$/ },
  idempotencyKey: { conversion: 'text', columns: /^(idempotencykey|orderid|transactionid|invoiceid|eventid)$/ },
  'optIn.email': { conversion: 'choice', columns: /^(email(optin|consent|subscribed)|optinemail|newsletter)$/ },
  'optIn.sms': { conversion: 'choice', columns: /^(sms(optin|consent|subscribed)|optinsms)$/ },
  'optIn.whatsapp': { conversion: 'choice', columns: /^(whatsapp(optin|consent|subscribed)|optinwhatsapp)$/ },
  'optIn.push': { conversion: 'choice', columns: /^(push(optin|consent|subscribed)|optinpush)$/ },
  'optIn.method': { conversion: 'text', columns: null },
} satisfies Record<string, EventField>

export type EventFieldName = keyof typeof EVENT_FIELDS

export const EVENT_FIELD_NAMES = Object.keys(EVENT_FIELDS) as EventFieldName[]
