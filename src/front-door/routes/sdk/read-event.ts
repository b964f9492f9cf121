/**
 * The body of an event, alone and in a batch: its schema, and the function that reads it for the rules. The schemas
 * check bodies and describe them in the OpenAPI document. Lengths apply after trimming (check-body.ts). The rules check
 * what depends on the meaning: an email, an instant, a placeholder, the key of a trait.
 */
import { hash } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { EVENT_TYPES, type EventFact, type Identity } from '../../../rules/events/facts.ts'
import type { Fault } from '../../../rules/faults.ts'
import { readIdentity } from '../../../rules/identity/identity.ts'
import { isCurrencyCode } from '../../../rules/events/currencies.ts'
import { looksRounded } from '../../../rules/identity/rounded.ts'
import { interpret } from '../../../rules/events/interpret.ts'
import { readOccurredAt } from '../../../rules/events/occurred-at.ts'
import { readTags } from '../../../rules/events/tags.ts'
import { hasMoreBytes, hasMoreValues, MAX_DEPTH, sanitiseJson } from '../../../rules/events/text.ts'
import { readTraits } from '../../../rules/events/traits.ts'
import { compileCheck, uncleanIssues } from '../../http/check-body.ts'
import { warnOfLargeIntegers } from '../../http/large-integers.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { reject, rejectIdentity, rejectOtherBusiness, rejectShape, type Rejection } from '../../http/rejection.ts'
import { MAX_BATCH } from './batch-items.ts'
import { text, visitorId, businessId, IdentitySchema, traits, instant } from '../body-fields.ts'
import { compileNearMisses } from '../warn-of-near-misses.ts'

const eventFields = {
  event: text(1, 64, 'The name of the event. Trimmed, otherwise stored as sent.', 'invoice_paid'),
  identity: IdentitySchema,
  occurredAt: instant(''),
  type: Type.Optional(
    Type.Union(
      EVENT_TYPES.map((type) => Type.Literal(type)),
      {
        description:
          'The meaning of the event. It takes precedence over the name and the value. When left out, a `value` above 0 means a ' +
          'purchase and one below 0 a refund, for any name; else a recognised name decides (docs/events.md); else it is `none`.',
      },
    ),
  ),
  value: Type.Optional(
    Type.Number({
      description:
        'The amount in units of the currency, not in cents. A purchase adds it to the revenue, a refund subtracts its absolute ' +
        'value, and any other `type` ignores it. A refund is `type: "refund"` or a negative value; a name never makes a refund.',
      examples: [49.9],
    }),
  ),
  currency: Type.Optional(
    text(
      1,
      8,
      "Stored in upper case. When left out: the business's currency at the time of receipt (USD by default).",
      'USD',
    ),
  ),
  properties: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Any JSON object: at most 32,768 bytes as compact JSON, nested at most ${MAX_DEPTH} levels deep.`,
      examples: [{ invoice: 'INV-7' }],
    }),
  ),
  tags: Type.Optional(
    Type.Array(text(1, 64, 'A tag.'), {
      maxItems: 50,
      description: 'Added to the contact. A contact has at most 1,000 tags.',
      examples: [['vip']],
    }),
  ),
  traits,
  idempotencyKey: Type.Optional(
    text(1, 200, 'Unique per business, without expiry: an event with a known key is not recorded again.', 'order-9917'),
  ),
  businessId,
}

/** The body of `track`. */
export const EventSchema = Type.Object({ ...eventFields, visitorId })

/** An element of a batch: every field of an event except `visitorId`. */
const BatchItemSchema = Type.Object(eventFields)

export const BatchSchema = Type.Object({
  events: Type.Array(BatchItemSchema, { minItems: 1, maxItems: MAX_BATCH }),
})

/** The outer shape of a batch. Its items are checked one by one, and fail individually. */
export const BatchFrameSchema = Type.Object({
  events: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
})

type EventBody = Static<typeof EventSchema>

const MAX_PROPERTIES_BYTES = 32_768

const checkEvent = compileCheck(EventSchema)
/** Fields that contain text. */
const TEXTS = Object.entries(EventSchema.properties).flatMap(([name, { type }]) => (type === 'string' ? [name] : []))
const warnOfNearMisses = compileNearMisses(EventSchema)

/** `now`: time of receipt in epoch ms. */
export function readEvent(raw: unknown, business: Business, now: number): { fact: EventFact } | Rejection {
  const mismatch = rejectOtherBusiness(raw, business)
  if (mismatch !== null) return mismatch
  const checked = checkEvent(raw)
  return 'issues' in checked ? rejectShape(checked.issues) : readFields(raw, checked.body, business, now)
}

function readFields(raw: unknown, body: EventBody, business: Business, now: number): { fact: EventFact } | Rejection {
  const identity = readIdentity(body.identity, business.country)
  const tags = readTags(body.tags ?? [])
  const traits = readTraits(body.traits ?? {})
  const properties = readProperties(body.properties, 'properties')
  const unclean = uncleanIssues(body, TEXTS)
  const faults = [...unclean, ...identity.faults, ...tags.faults, ...traits.faults, ...properties.faults]
  if (faults.length > 0) return reject('invalid_request', faults)
  if (identity.identity === null) return rejectIdentity([...identity.warnings, ...warnOfNearMisses(raw)])
  if (properties.tooLarge) return reject('properties_too_large')
  const time = body.occurredAt === undefined ? { at: now } : readOccurredAt(body.occurredAt, now)
  if ('fault' in time) return reject('invalid_occurred_at', [{ path: 'occurredAt', message: time.fault }])
  const meaning = interpret(body, business.currency)
  const key = readKey(body, identity.identity, properties.text)
  return {
    fact: {
      event: body.event,
      identity: identity.identity,
      occurredAt: time.at,
      occurredAtSent: body.occurredAt !== undefined,
      meaning,
      value: body.value ?? null,
      properties: properties.text,
      tags: tags.tags,
      traits: traits.traits,
      idempotencyKey: key.key,
      visitorId: body.visitorId || null,
      warnings: [
        ...identity.warnings,
        ...(time.warning === undefined ? [] : [time.warning]),
        ...traits.warnings,
        ...properties.warnings,
        ...key.warnings,
        ...(meaning.currency === null || isCurrencyCode(meaning.currency) ? [] : [NO_CURRENCY]),
        ...warnOfLargeIntegers(raw, ['properties', 'traits']),
        ...warnOfNearMisses(raw),
      ],
    },
  }
}

/**
 * Different events share a key that a spreadsheet has rounded. None of them is lost, and the same event still counts
 * once: the key is completed by what the event says.
 */
function readKey(
  { idempotencyKey, event, occurredAt, type, value, currency }: EventBody,
  identity: Identity,
  properties: string | null,
): { key: string | null; warnings: string[] } {
  if (idempotencyKey === undefined) return { key: null, warnings: [] }
  if (!looksRounded(idempotencyKey)) return { key: idempotencyKey, warnings: [] }
  const content = JSON.stringify([event, identity, occurredAt, type, value, currency, properties])
  return { key: `${idempotencyKey} ${hash('sha256', content, 'hex').slice(0, 16)}`, warnings: [ROUNDED_KEY] }
}

const ROUNDED_KEY =
  'idempotencyKey looks rounded by a spreadsheet, so that events share it: only an event with the same content counts as a repeat; format the column as text'

const NO_CURRENCY = 'currency is not a code of ISO 4217: the amount was kept under it as you sent it'

interface ReadProperties {
  /** Compact JSON; null when none was sent. */
  text: string | null
  tooLarge: boolean
  warnings: string[]
  faults: Fault[]
}

/** `name`: name of the field in the body, for messages. */
export function readProperties(raw: Record<string, unknown> | undefined, name: string): ReadProperties {
  const read: ReadProperties = { text: null, tooLarge: false, warnings: [], faults: [] }
  if (raw === undefined) return read
  if (hasMoreValues(raw, MAX_PROPERTIES_BYTES / 2)) return { ...read, tooLarge: true }
  const { value, changed, tooDeep } = sanitiseJson(raw)
  if (tooDeep) return { ...read, faults: [{ path: name, message: `${name} is nested too deeply` }] }
  if (changed) read.warnings.push(`${name} held values that cannot be stored; they were replaced`)
  read.text = JSON.stringify(value)
  read.tooLarge = hasMoreBytes(read.text, MAX_PROPERTIES_BYTES)
  return read
}
