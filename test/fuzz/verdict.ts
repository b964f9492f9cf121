/**
 * The contract, implemented a second time and independently of the product: decides which answer to a body is right.
 * Where the contract leaves it open, or where this small model does not know, the verdict is `unsure`: any well-formed
 * answer is accepted.
 */
import { Buffer } from 'node:buffer'

export type Code =
  | 'invalid_request'
  | 'identity_required'
  | 'invalid_occurred_at'
  | 'properties_too_large'
  | 'business_mismatch'

/** All faults of a body; the answer has to name one of them. Without faults, the body has to be accepted. */
export interface Verdict {
  faults: Set<Code>
  unsure: boolean
}

type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns an own field. Null counts as not sent. */
export const sent = (object: Json, name: string): unknown =>
  Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined

/** True when the text has no NUL and no lone surrogate. */
const isClean = (text: string): boolean => !/\0|\p{Surrogate}/u.test(text)

interface Findings extends Verdict {
  must(holds: boolean, code?: Code): boolean
  /** A string with a length in this range after trimming. `clean`: every database can store it. */
  text(value: unknown, range: [least: number, most: number], clean?: boolean): void
}

function openFindings(): Findings {
  const faults = new Set<Code>()
  const must = (holds: boolean, code: Code = 'invalid_request'): boolean => {
    if (!holds) faults.add(code)
    return holds
  }
  const text: Findings['text'] = (value, [least, most], clean = true) => {
    if (value === undefined) return
    if (typeof value !== 'string') return void faults.add('invalid_request')
    const { length } = value.trim()
    must(length >= least && length <= most && (!clean || isClean(value)))
  }
  return { faults, unsure: false, must, text }
}

export function judgeEvent(body: unknown, businessId: string, now: number): Verdict {
  const found = openFindings()
  if (!found.must(isObject(body)) || !isObject(body)) return found
  judgeBusiness(found, body, businessId)
  found.must(typeof sent(body, 'event') === 'string')
  found.text(sent(body, 'event'), [1, 64])
  judgeIdentity(found, body)
  judgeInstant(found, sent(body, 'occurredAt'), now)
  const type = sent(body, 'type')
  found.must(type === undefined || (typeof type === 'string' && TYPES.has(type)))
  const value = sent(body, 'value')
  found.must(value === undefined || Number.isFinite(value))
  found.text(sent(body, 'currency'), [1, 8])
  judgeProperties(found, sent(body, 'properties'))
  judgeTags(found, sent(body, 'tags'))
  judgeTraits(found, sent(body, 'traits'))
  found.text(sent(body, 'idempotencyKey'), [1, 200])
  found.text(sent(body, 'visitorId'), [0, 128])
  return found
}

/** Judges an item of a batch: an event without the visitor. */
export function judgeItem(item: unknown, businessId: string, now: number): Verdict {
  const verdict = judgeEvent(item, businessId, now)
  if (isObject(item) && sent(item, 'visitorId') !== undefined) verdict.faults.add('invalid_request')
  return verdict
}

/** Judges the batch as a whole; its items fail separately. */
export function judgeBatch(body: unknown, businessId: string): Verdict {
  const found = openFindings()
  if (!found.must(isObject(body)) || !isObject(body)) return found
  const named = sent(body, 'businessId')
  if (typeof named === 'string') judgeBusiness(found, body, businessId)
  else if (named !== undefined) found.unsure = true
  const events = sent(body, 'events')
  found.must(Array.isArray(events) && events.length >= 1 && events.length <= 500)
  return found
}

export function judgeIdentify(body: unknown, businessId: string, keyed: boolean, now: number): Verdict {
  const found = openFindings()
  if (!found.must(isObject(body)) || !isObject(body)) return found
  judgeBusiness(found, body, businessId)
  judgeIdentity(found, body)
  const profile = sent(body, 'profile')
  if (profile !== undefined && found.must(isObject(profile)) && isObject(profile)) {
    for (const field of ['name', 'firstName', 'lastName', 'country', 'city', 'language', 'timezone'])
      found.text(sent(profile, field), [0, 256], false)
  }
  const before = found.faults.size
  judgeTraits(found, sent(body, 'traits'))
  judgeInstant(found, sent(body, 'occurredAt'), now)
  // Fields from a page are ignored: the contract leaves open whether invalid ones are refused.
  if (!keyed && found.faults.size > before) found.unsure = true
  found.text(sent(body, 'method'), [0, 64], false)
  found.text(sent(body, 'visitorId'), [0, 128])
  return found
}

const TYPES = new Set(['purchase', 'refund', 'booking', 'lead', 'checkout_started', 'fulfilled', 'cancelled'])

function judgeBusiness(found: Findings, body: Json, businessId: string): void {
  const named = sent(body, 'businessId')
  if (named === undefined) return
  if (found.must(typeof named === 'string')) {
    found.must((named as string).trim().toLowerCase() === businessId, 'business_mismatch')
  }
}

const WORDS =
  'null|undefined|none|n/a|nan|anonymous|guest|unknown|true|false|\\[object object\\]|0|-1|id|userid|user_id|email|' +
  'distinctid|distinct_id|not_authenticated|unauthenticated'
/** Also between quotes. */
const PLACEHOLDERS = new RegExp(`^["'\\s]*(?:${WORDS}|)["'\\s]*$`, 'i')
/** An email of two such words. */
const NOBODY = new RegExp(`^(?:${WORDS})@(?:${WORDS})(?:\\.|$)`, 'i')
/** Signs that the product takes out or reads in ways of its own. */
const ODD = /[\p{Cf}"'`´‘’‚“”„«»‹›]/u

function judgeIdentity(found: Findings, body: Json): void {
  const identity = sent(body, 'identity')
  if (identity === undefined) return void found.faults.add('identity_required')
  if (!found.must(isObject(identity)) || !isObject(identity)) return
  const [email, phone, customerId] = ['email', 'phone', 'platformCustomerId'].map((kind) => sent(identity, kind))
  found.must(email === undefined || typeof email === 'string')
  for (const value of [phone, customerId]) {
    const isNumber = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
    found.must(value === undefined || typeof value === 'string' || isNumber)
  }
  if (typeof phone === 'number') found.must(Number.isInteger(phone) && phone >= 0)
  for (const value of [email, phone, customerId]) if (ODD.test(String(value))) found.unsure = true
  const usable = [judgeEmail(found, email), judgePhone(found, phone), judgeCustomerId(found, customerId)]
  found.must(usable.includes(true), 'identity_required')
}

/** These three functions return whether the field names a person. An invalid one does, and is a fault. */
function judgeEmail(found: Findings, value: unknown): boolean {
  const text = trimmed(value)
  if (text === undefined || PLACEHOLDERS.test(text) || NOBODY.test(text)) return false
  const length = text.toLowerCase().length
  found.must(isClean(text) && length >= 3 && length <= 320 && !/\s/.test(text) && /^[^@]+@[^@]+$/.test(text))
  return true
}

function judgePhone(found: Findings, value: unknown): boolean {
  const text = trimmed(value)
  if (text === undefined || PLACEHOLDERS.test(text)) return false
  if (!found.must(isClean(text) && text.length <= 64)) return true
  // Digits of other scripts may count as digits.
  if (/(?![0-9])\p{Nd}/u.test(text)) found.unsure = true
  // Extensions, masks and rounded numbers.
  if (/[\p{L}*#]|[.,]0{1,2}$/u.test(text)) found.unsure = true
  const digits = text.replaceAll(/[^0-9]/g, '')
  return digits.length >= 5 && new Set(digits).size > 1
}

function judgeCustomerId(found: Findings, value: unknown): boolean {
  const text = trimmed(value)
  if (text === undefined || PLACEHOLDERS.test(text)) return false
  // A rounded number.
  if (/\de[+-]?\d/i.test(text)) found.unsure = true
  found.must(isClean(text) && text.length <= 255)
  return true
}

const trimmed = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined

const YEAR_ONE = Date.UTC(2000, 0, 1) - 730_119 * 86_400_000
const PREFETCH_MS = 5 * 60_000
/** The product's "now" is a moment later than ours. */
const DOUBT_MS = 60_000

function judgeInstant(found: Findings, value: unknown, now: number): void {
  if (value === undefined) return
  if (typeof value !== 'string' && typeof value !== 'number') return void found.faults.add('invalid_request')
  // A number that JSON cannot represent has neither a right type nor a time.
  if (value === Infinity || value === -Infinity) found.faults.add('invalid_request')
  const at = typeof value === 'number' ? value : readInstant(value)
  if (!found.must(at !== undefined && at >= YEAR_ONE, 'invalid_occurred_at') || at === undefined) return
  if (Math.abs(at - now - PREFETCH_MS) < DOUBT_MS) found.unsure = true
  found.must(at <= now + PREFETCH_MS, 'invalid_occurred_at')
}

/**
 * Returns the epoch ms of an ISO 8601 date or date-time; undefined for other texts, and for a date that does not exist.
 */
export function readInstant(text: string): number | undefined {
  const shape = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = shape.exec(text) ?? []
  if (year === undefined) return undefined
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const isReal = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? []
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60
  if (!isReal || !isTime || Number(hours) > 23 || Number(minutes) > 59) return undefined
  const time = Number(hour) * 3600 + Number(minute) * 60 + Math.min(59, Number(second))
  const offset = (Number(hours) * 60 + Number(minutes)) * 60 * (sign === '-' ? -1 : 1)
  const at = date.getTime() + (time - offset) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  // A leap second is the last second of a UTC day.
  return second === '60' && !new Date(at).toISOString().includes('T23:59:59') ? undefined : at
}

const MAX_BYTES = 32_768
const SURE_DEPTH = 100

function judgeProperties(found: Findings, value: unknown): void {
  if (value === undefined) return
  if (!found.must(isObject(value))) return
  if (depthOf(value) > SURE_DEPTH) {
    found.unsure = true
    return
  }
  const text = JSON.stringify(value)
  const bytes = Buffer.byteLength(text)
  // Replacements (NUL, lone surrogates, 1e999) may make it shorter.
  if (bytes > MAX_BYTES && /\\u0000|\\ud[89a-f]|null/i.test(text)) found.unsure = true
  found.must(bytes <= MAX_BYTES, 'properties_too_large')
}

function depthOf(value: unknown): number {
  let [depth, level] = [0, [value]]
  for (; level.length > 0 && depth <= SURE_DEPTH; depth += 1) level = level.flatMap(valuesIn)
  return depth
}

const valuesIn = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []

function judgeTags(found: Findings, value: unknown): void {
  if (value === undefined) return
  if (!found.must(Array.isArray(value)) || !Array.isArray(value)) return
  found.must(value.length <= 50)
  for (const tag of value) {
    found.must(typeof tag === 'string')
    found.text(tag ?? undefined, [1, 64])
  }
}

function judgeTraits(found: Findings, value: unknown): void {
  if (value === undefined) return
  if (!found.must(isObject(value)) || !isObject(value)) return
  for (const [at, trait] of Object.values(value).entries()) {
    const isTrait = trait === null || ['string', 'boolean'].includes(typeof trait) || Number.isFinite(trait)
    // Names beyond the first 500 are skipped; the contract leaves open whether they are checked.
    if (!isTrait && at >= 500) found.unsure = true
    found.must(isTrait)
  }
}
