/**
 * Redacts what is kept of a body or an answer. It contains no address, key or credential and, when the request led to
 * no contact, no values except those of PLAIN_FIELDS.
 */
import { PRIVATE } from '../log.ts'
import { isRecord } from '../rules/is-record.ts'

const REDACTED = '[redacted]'

/** Parts of field names, in lower case and without separators. */
const PRIVATE_NAMES = [...PRIVATE, 'password', 'secret', 'token', 'apikey', 'firstname', 'lastname', 'fullname']
/** Fields of an event that reveal nothing about a person. */
const PLAIN_FIELDS = new Set(['event', 'type', 'value', 'currency', 'occurredAt'])
/** Query parameters that reveal nothing about a person. */
const PLAIN_PARAMETERS = new Set(['limit', 'stage', 'tag', 'event', 'from', 'to', 'model', 'type'])

const MAX_DEPTH = 8
const MAX_ITEMS = 20
const MAX_FIELDS = 100
const MAX_NAME = 100
const FIRST_EVENTS = 5

const EMAIL = /[^\s@"'<>(),;:]{1,64}@[^\s@"'<>(),;:]{1,255}/g
const PHONE = /\+\d[\d ().-]{5,20}\d/g
/** Matches keys with any prefix that has been in use. */
const KEY = /\b\w*_live_\w*/g

/** Masks the addresses, phone numbers and keys in a text. */
export function maskText(text: string): string {
  return text.replace(EMAIL, REDACTED).replace(PHONE, REDACTED).replace(KEY, REDACTED)
}

/**
 * Redacts a body. With `hasContact`, the request led to a contact, and is erased with it. Without one, nothing shows
 * later whose values they were, so only the names and types of the fields are kept.
 */
export function redactBody(body: unknown, hasContact: boolean): unknown {
  if (isRecord(body) && Array.isArray(body['events'])) return summariseBatch(body['events'])
  return hasContact ? redact(body, 0) : shapeOf(body, 0)
}

export const redactAnswer = (data: unknown): unknown => redact(data, 0)

/** The items of a batch may lead to many contacts. */
function summariseBatch(events: unknown[]): unknown {
  return { events: events.length, first: events.slice(0, FIRST_EVENTS).map(plainFields) }
}

function plainFields(item: unknown): unknown {
  if (!isRecord(item)) return typeName(item)
  return Object.fromEntries(
    Object.entries(item)
      .filter(([name]) => PLAIN_FIELDS.has(name))
      .map(([name, value]) => [name, leafOf(value)]),
  )
}

const leafOf = (value: unknown): unknown =>
  typeof value === 'string' ? maskText(value) : isNested(value) ? typeName(value) : value

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

function redact(value: unknown, depth: number): unknown {
  if (!isNested(value)) return leafOf(value)
  if (depth >= MAX_DEPTH) return typeName(value)
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redact(item, depth + 1))
  return mapFields(value, (name, field) => (isPrivate(name) ? redactWhole(field) : redact(field, depth + 1)))
}

function shapeOf(value: unknown, depth: number): unknown {
  if (!isNested(value)) return value === null ? null : typeName(value)
  if (depth >= MAX_DEPTH) return typeName(value)
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => shapeOf(item, depth + 1))
  return mapFields(value, (name, field) =>
    depth === 0 && PLAIN_FIELDS.has(name) ? leafOf(field) : shapeOf(field, depth + 1),
  )
}

function mapFields(value: object, change: (name: string, field: unknown) => unknown): unknown {
  const fields = Object.entries(value).slice(0, MAX_FIELDS)
  return Object.fromEntries(fields.map(([name, field]) => [maskText(name.slice(0, MAX_NAME)), change(name, field)]))
}

/** Keeps booleans: a subscription to a channel (`email: true`) is not an address. */
const redactWhole = (value: unknown): unknown => (value === null || typeof value === 'boolean' ? value : REDACTED)

function isPrivate(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '')
  return plain === 'name' || PRIVATE_NAMES.some((part) => plain.includes(part))
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return '[list]'
  if (typeof value === 'string') return '[text]'
  return `[${typeof value}]`
}

/** Returns the redacted query of a URL, such as `limit=50&email=[redacted]`; empty without one. */
export function redactQuery(url: string): string {
  const at = url.indexOf('?')
  if (at === -1) return ''
  const parameters = [...new URLSearchParams(url.slice(at))].slice(0, MAX_ITEMS)
  return parameters
    .map(
      ([name, value]) =>
        `${maskText(name.slice(0, MAX_NAME))}=${PLAIN_PARAMETERS.has(name) ? maskText(value.slice(0, MAX_NAME)) : REDACTED}`,
    )
    .join('&')
}
