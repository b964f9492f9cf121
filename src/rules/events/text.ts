/**
 * Text that both databases can store. A NUL breaks Postgres, a lone surrogate breaks ClickHouse, and one such string
 * would make its whole micro-batch fail (decisions, "Envelope", "Strings").
 */

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

const REPLACEMENT = '\uFFFD'
const NUL = '\0'

/** Maximum nesting. Deeper JSON overflows the stack of `JSON.stringify` in some runtimes. */
export const MAX_DEPTH = 100

/** Next line: white space in Unicode, but not for JavaScript's `trim`. */
const NEL = '\u0085'

/**
 * Removes leading and trailing white space: the characters that JavaScript's `trim` removes, and U+0085 (decisions,
 * "Strings").
 */
export function trimText(text: string): string {
  const trimmed = text.trim()
  return trimmed.startsWith(NEL) || trimmed.endsWith(NEL) ? trimSigns(trimmed, SPACE) : trimmed
}

const SPACE = /^[\s\u0085]$/

/**
 * Removes leading and trailing characters that `sign` matches, which tests one character and never matches an ASCII
 * letter or digit. (A pattern with `+$` takes quadratic time.)
 */
export function trimSigns(text: string, sign: RegExp): string {
  if (isAlphanumeric(text.charCodeAt(0)) && isAlphanumeric(text.charCodeAt(text.length - 1))) return text
  let [from, to] = [0, text.length]
  for (let next = charAt(text, from); from < to && sign.test(next); next = charAt(text, from)) from += next.length
  for (let last = charBefore(text, to); to > from && sign.test(last); last = charBefore(text, to)) to -= last.length
  return text.slice(from, to)
}

/** Whether a UTF-16 unit is an ASCII letter or digit. */
const isAlphanumeric = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a)

/** A character beyond U+FFFF takes two places. */
const charAt = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : ''
const charBefore = (text: string, at: number): string => {
  const pair = text.slice(Math.max(at - 2, 0), at)
  return pair.codePointAt(0)! > 0xffff ? pair : pair.slice(-1)
}

/** Removes the characters of category Cf, such as zero-width spaces, soft hyphens and marks of direction. */
export const withoutInvisible = (text: string): string => text.replace(/\p{Cf}/gu, '')

/** Returns true when `text` contains neither NUL nor a lone surrogate. */
export function isClean(text: string): boolean {
  return text.isWellFormed() && !text.includes(NUL)
}

/** Replaces each NUL and each lone surrogate with U+FFFD; the length does not change. */
export function sanitiseText(text: string): { text: string; changed: boolean } {
  if (isClean(text)) return { text, changed: false }
  return { text: text.toWellFormed().replaceAll(NUL, REPLACEMENT), changed: true }
}

/**
 * Sanitises every string of a parsed JSON value, including keys. A number that JSON cannot represent (`1e999` is read
 * as infinite) becomes null. `tooDeep` is true for a value nested deeper than `MAX_DEPTH`. Reject such a value; `value`
 * is then null.
 */
export function sanitiseJson(input: unknown): { value: Json; changed: boolean; tooDeep: boolean } {
  if (isStorable(input, 0)) return { value: input, changed: false, tooDeep: false }
  const found = { changed: false, tooDeep: false }
  const value = sanitise(input, 0, found)
  return found.tooDeep ? { value: null, changed: false, tooDeep: true } : { value, ...found }
}

/** Returns true when the value can be stored unchanged. This is the case for almost all JSON, and avoids a copy. */
function isStorable(input: unknown, depth: number): input is Json {
  if (typeof input === 'string') return isClean(input)
  if (typeof input === 'number') return Number.isFinite(input)
  if (typeof input === 'boolean' || input === null) return true
  if (typeof input !== 'object' || depth === MAX_DEPTH) return false
  if (Array.isArray(input)) return input.every((item) => isStorable(item, depth + 1))
  const object = input as Record<string, unknown>
  for (const key of Object.keys(object)) if (!isClean(key) || !isStorable(object[key], depth + 1)) return false
  return true
}

function sanitise(input: unknown, depth: number, found: { changed: boolean; tooDeep: boolean }): Json {
  if (typeof input === 'string') return clean(input, found)
  if (typeof input === 'boolean' || input === null) return input
  if (typeof input === 'number' && Number.isFinite(input)) return input
  if (typeof input !== 'object') {
    found.changed = true
    return null
  }
  if (depth === MAX_DEPTH) {
    found.tooDeep = true
    return null
  }
  if (Array.isArray(input)) return input.map((item) => sanitise(item, depth + 1, found))
  // fromEntries defines own properties, so a key `__proto__` remains a normal key.
  return Object.fromEntries(
    Object.entries(input).map(([key, item]) => [clean(key, found), sanitise(item, depth + 1, found)]),
  )
}

function clean(text: string, found: { changed: boolean }): string {
  const sanitised = sanitiseText(text)
  if (sanitised.changed) found.changed = true
  return sanitised.text
}

/**
 * Returns whether a parsed JSON value has more than `max` values, counting itself and nested ones. Stops at that
 * number. N values are at least 2N − 1 bytes of JSON, so this detects values far beyond a size limit without writing
 * them as JSON.
 */
export function hasMoreValues(input: unknown, max: number): boolean {
  const containers = isContainer(input) ? [input] : []
  let seen = 1
  while (seen <= max) {
    const container = containers.pop()
    if (container === undefined) return false
    const inside: unknown[] = Array.isArray(container) ? container : Object.values(container)
    seen += inside.length
    if (seen <= max) for (const value of inside) if (isContainer(value)) containers.push(value)
  }
  return true
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

const encoder = new TextEncoder()

/**
 * Returns whether a text has more than `max` bytes of UTF-8, the unit of the size limits. Each UTF-16 unit is one to
 * three bytes.
 */
export function hasMoreBytes(text: string, max: number): boolean {
  if (text.length > max) return true
  return text.length * 3 > max && encoder.encode(text).length > max
}
