/** Guesses the field of a column from its name. */
export const EVENT_FIELDS = [
  'event',
  'occurredAt',
  'identity.email',
  'identity.phone',
  'identity.platformCustomerId',
  'type',
  'value',
  'currency',
  'tags',
  'idempotencyKey',
  'optIn.email',
  'optIn.sms',
  'optIn.whatsapp',
  'optIn.push',
] as const
export type EventField = (typeof EVENT_FIELDS)[number]

/** Columns of Stripe's export of payments. */
const PAYMENT = ['id', 'createddateutc', 'amount', 'currency']

/** Fields that take the name of the column. */
export const NAMED_FIELDS = [
  'trait',
  'trait:number',
  'trait:boolean',
  'property',
  'property:number',
  'property:boolean',
] as const
export type NamedField = (typeof NAMED_FIELDS)[number]
/** Empty: the column is omitted. */
export type Target = EventField | NamedField | ''

const NAMES: Record<EventField, RegExp> = {
  event: /^event(name)?$/,
  occurredAt: /^(occurredat|date|time|timestamp|createdat|datetime|at|when)$/,
  'identity.email': /^e?mail(address)?$/,
  'identity.phone': /^(phone|mobile|tel|telephone)(number)?$/,
  'identity.platformCustomerId': /^(platformcustomerid|customer|customerid|userid|user|contactid)$/,
  type: /^type$/,
  value: /^(value|amount|price|total|revenue)$/,
  currency: /^currency(code)?$/,
  tags: /^tags?$/,
  idempotencyKey: /^(idempotencykey|orderid|transactionid|invoiceid|eventid)$/,
  'optIn.email': /^(email(optin|consent|subscribed)|optinemail|newsletter)$/,
  'optIn.sms': /^(sms(optin|consent|subscribed)|optinsms)$/,
  'optIn.whatsapp': /^(whatsapp(optin|consent|subscribed)|optinwhatsapp)$/,
  'optIn.push': /^(push(optin|consent|subscribed)|optinpush)$/,
}

/** Returns the field of each column. No field is used twice. A column without a name holds nothing. */
export function guessMapping(columns: readonly string[]): Record<string, Target> {
  const names = columns.map((column) => column.toLowerCase().replaceAll(/[^a-z]/g, ''))
  const isId = idOf(names)
  const taken = new Set<EventField>()
  return Object.fromEntries(
    columns.map((column, index): [string, Target] => {
      const name = names[index] ?? ''
      const fits = (field: EventField) =>
        NAMES[field].test(name) || (field === 'idempotencyKey' && name !== '' && name === isId)
      const field = EVENT_FIELDS.find((one) => fits(one) && !taken.has(one))
      if (field !== undefined) taken.add(field)
      return [column, field ?? '']
    }),
  )
}

/**
 * Returns the name of a column that identifies an order or a payment, though many files call something else so. A wrong
 * key would lose events: an id beside an amount may as well be that of a person or a product. Shops write an order in
 * several rows, one for each item, with its name in all of them.
 */
function idOf(names: readonly string[]): string | undefined {
  if (names.some((name) => NAMES.idempotencyKey.test(name))) return undefined
  if (names.includes('name') && names.some((name) => name.startsWith('lineitem'))) return 'name'
  return PAYMENT.every((name) => names.includes(name)) ? 'id' : undefined
}

export interface MappedField {
  field: string
  column?: string
  value?: string
}

/**
 * Returns the mapping in the server's format. `fixed` has fields with the same value in every row; empty ones are
 * omitted.
 */
export function mappingOf(targets: Record<string, Target>, fixed: Partial<Record<EventField, string>>): MappedField[] {
  const mapped = Object.entries(targets).flatMap(([column, target]) =>
    target === '' ? [] : [{ field: fieldOf(target, column), column }],
  )
  const same = Object.entries(fixed).flatMap(([field, value]) => (value.trim() === '' ? [] : [{ field, value }]))
  return [...mapped, ...same]
}

function fieldOf(target: Exclude<Target, ''>, column: string): string {
  const [kind, conversion] = target.split(':')
  if (kind !== 'trait' && kind !== 'property') return target
  const group = kind === 'trait' ? 'traits' : 'properties'
  return conversion === undefined ? `${group}.${column}` : `${group}.${column}:${conversion}`
}
