/** Bodies for the three endpoints: valid ones, slightly wrong ones, and completely wrong ones. */
import * as fc from 'fast-check'

/** Values that are awkward for a database, a parser, a protocol or a programmer. */
const AWKWARD = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\uD800',
  'x\uDFFFy',
  '👩‍👩‍👧',
  '\u202Eevil',
  'a\r\nSet-Cookie: a=b',
  '\u2028',
  '\u001B[31m',
  '\\u0000',
  '__proto__',
  'constructor',
  'toString',
  "'; drop table contacts; --",
  "\\'); select 1",
  '{{contact.firstName}}',
  '${7*7}',
  '%00%0a',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  'null',
  'N/A',
  '[object Object]',
  'İ',
  'ﬃ',
]

const awkward = fc.constantFrom(...AWKWARD)
export const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 2, arbitrary: awkward },
)
/** Texts with a length at the limit, and on both sides of it. */
export const ofLength = (limit: number) =>
  fc.integer({ min: -1, max: 1 }).chain((off) => fc.constantFrom('x', 'é', '字').map((one) => one.repeat(limit + off)))
const numbers = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.double(),
  fc.constantFrom(0, -0, 1e15, 1.000_000_5, -1e15, 1e16, 2 ** 53, -(2 ** 53) - 2, 5e-324, 1.797e308, 0.1, 1e21),
)
export const anything = fc.oneof(
  anyText,
  numbers,
  fc.boolean(),
  fc.constant(null),
  fc.constant([]),
  fc.constant({}),
  fc.jsonValue(),
)

/** Mostly a valid value; otherwise one at a limit, awkward, or of another type. `undefined` is left out of the JSON. */
export const mostly = <T>(good: fc.Arbitrary<T>, ...others: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 30, arbitrary: good }, ...others.map((arbitrary) => ({ weight: 2, arbitrary })), {
    weight: 1,
    arbitrary: anything,
  })
export const maybe = <T>(good: fc.Arbitrary<T>, ...others: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: mostly(good, ...others) })

const NAMES = ['signup', 'purchase', 'invoice_paid', 'lesson.finished', 'trial_started', 'order_delivered', 'Kauf 购买']
const name = mostly(fc.constantFrom(...NAMES), ofLength(64), anyText)

/** Few people, so that they meet and merge. */
const person = fc.integer({ min: 0, max: 30 })
const email = maybe(
  person.map((n) => `Person${n}@Example.com`),
  ofLength(320).map((text) => `a@${text.slice(2)}`),
  fc.constantFrom('a@b', '@', 'a@', '@b', 'a@b@c', 'a b@c', ' a@b ', 'x'),
)
const phone = maybe(
  person.map((n) => `+97254123${1000 + n}`),
  fc.integer({ min: -10, max: 2 ** 52 }),
  ofLength(64).map((text) => text.replaceAll(/./gsu, '7')),
  fc.constantFrom('054-123-4567', '1234', '11111', '12345', '٠٥٤١٢٣٤٥٦٧', '+', 'tel:12345;ext=9', 1.5, -0),
)
const customerId = maybe(person, ofLength(255), numbers, anyText)
const identity = mostly(
  fc.oneof(
    fc.record({ email, phone, platformCustomerId: customerId }),
    person.map((n) => ({ email: `person${n}@example.com` })),
    person.map((n) => ({ platformCustomerId: n })),
  ),
  fc.constant(undefined),
)

const TIMES = [
  '2026-03-01T09:30:00Z',
  '1997-01-01',
  '0001-01-01',
  '0000-12-31',
  '2024-02-29',
  '2023-02-29',
  '2026-02-30',
  '2026-01-01T24:00:00Z',
  '2026-01-01T23:59:60Z',
  '2026-01-01T12:30:60Z',
  '2020-01-01T10:00',
  '2020-01-01 10:00',
  '2020-01-01T10:00:00.123456789+14:00',
  '2020-01-01T10:00:00,5-1030',
  '2020-01-01T10:00:00+24:00',
  '20200101',
  '2020-W01',
  '9999-12-31',
  '+012020-01-01',
  'lesson 5',
  'now',
]
const occurredAt = maybe(
  fc.constantFrom(...TIMES),
  fc.integer({ min: -62_135_596_800_001, max: 4_102_444_800_000 }),
  fc.constantFrom(-62_135_596_800_000, -62_135_596_800_001, 1_700_000_000, 1e18, -1e18, 0.5),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
)

const TYPES = [
  'purchase',
  'refund',
  'booking',
  'lead',
  'checkout_started',
  'fulfilled',
  'cancelled',
  'Purchase',
  'sale',
]
const tag = mostly(fc.constantFrom('vip', 'new', ' trimmed '), ofLength(64), anyText)
const tags = maybe(
  fc.array(tag, { maxLength: 5 }),
  fc.integer({ min: 49, max: 51 }).map((count) => Array.from({ length: count }, (_, at) => `tag${at}`)),
)
const traitKey = fc.oneof(
  fc.constantFrom('plan', 'seats', 'since', 'constructor', 'Plan', 'a__b'),
  ofLength(64),
  anyText,
)
const traitValue = fc.oneof(anyText, numbers, fc.boolean(), fc.constant(null), ofLength(4096))
const traits = maybe(
  fc.dictionary(traitKey, traitValue, { maxKeys: 6 }),
  fc.dictionary(traitKey, anything, { maxKeys: 3 }),
  fc.constant(Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`Key${at}`, at]))),
)

const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1))
const properties = maybe(
  fc.dictionary(anyText, anything, { maxKeys: 5 }),
  fc.integer({ min: -1, max: 1 }).map((off) => ({ a: 'x'.repeat(32_768 - '{"a":""}'.length + off) })),
  fc.integer({ min: 90, max: 110 }).map(nested),
  fc.integer({ min: 16_370, max: 16_390 }).map((count) => ({ a: Array<number>(count).fill(1) })),
)

/** `business` is the id that the caller may use. */
const businessId = (business: string) =>
  maybe(fc.constantFrom(business, business.toUpperCase(), ` ${business} `), fc.uuid(), anyText)

const eventFields = (business: string) => ({
  event: name,
  identity,
  occurredAt,
  type: maybe(fc.constantFrom(...TYPES)),
  value: maybe(numbers),
  currency: maybe(fc.constantFrom('USD', 'eur', ' GBP '), ofLength(8), anyText),
  properties,
  tags,
  traits,
  idempotencyKey: maybe(
    fc.integer({ min: 0, max: 50 }).map((n) => `key-${n}`),
    ofLength(200),
    anyText,
  ),
  businessId: businessId(business),
})
const visitorId = maybe(
  fc.integer({ min: 0, max: 20 }).map((n) => `visitor-${n}`),
  ofLength(128),
  anyText,
)
const unknownFields = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  fc.dictionary(fc.constantFrom('context', 'sentAt', 'constructor', 'hasOwnProperty'), anything, { maxKeys: 2 }),
)
const withUnknown = (body: fc.Arbitrary<object>): fc.Arbitrary<unknown> =>
  fc.tuple(unknownFields, body).map(([extra, fields]) => ({ ...extra, ...fields }))

const event = (business: string) => withUnknown(fc.record({ ...eventFields(business), visitorId }))
const item = (business: string) =>
  fc.oneof(
    { weight: 10, arbitrary: withUnknown(fc.record(eventFields(business))) },
    withUnknown(fc.record({ ...eventFields(business), visitorId })),
    anything,
  )

const profileText = maybe(
  fc.constantFrom('Ada Lovelace', 'London', 'en', 'Europe/London', 'UTC'),
  ofLength(256),
  anyText,
)
const profile = maybe(
  fc.record({
    name: profileText,
    firstName: profileText,
    lastName: profileText,
    country: profileText,
    city: profileText,
    language: profileText,
    timezone: profileText,
  }),
)

export type Endpoint = 'track' | 'track/batch' | 'identify'

/** Generates JSON values. The wrong ones have one or two faults. */
export function makeBody(endpoint: Endpoint, business: string): fc.Arbitrary<unknown> {
  const body = {
    track: event(business),
    'track/batch': withUnknown(
      fc.record({
        events: mostly(
          fc.array(item(business), { minLength: 1, maxLength: 6 }),
          fc
            .integer({ min: 499, max: 501 })
            .map((count) => Array.from({ length: count }, () => ({ event: 'e', identity: { platformCustomerId: 1 } }))),
          fc.constant([]),
        ),
        businessId: businessId(business),
      }),
    ),
    identify: withUnknown(
      fc.record({
        identity,
        profile,
        traits,
        occurredAt,
        method: maybe(fc.constantFrom('signup', 'google'), ofLength(64), anyText),
        visitorId,
        businessId: businessId(business),
      }),
    ),
  }[endpoint]
  return fc.oneof({ weight: 25, arbitrary: body }, anything)
}
