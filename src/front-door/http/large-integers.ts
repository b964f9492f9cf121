/**
 * Integers beyond 2^53 lose digits when JSON is parsed. Their paths are read from the text and remembered for the
 * parsed objects, so that the reader of an event or of an item of a batch can warn of its own.
 */
import { sanitiseText } from '../../rules/events/text.ts'
import { isRecord } from '../../rules/is-record.ts'

/** Limits of the paths of one body, against the cost of a hostile one. Nothing of a call is nested so deep. */
const MAX_PATHS = 1_000
const MAX_DEPTH = 110
/** The body, a list in it, and the items of the list. */
const OBJECTS_WITH_PATHS = 3
const MAX_WARNINGS = 10
const MAX_SHOWN = 100

/** Few bodies have such a number. The others are not looked at any further. */
const CANDIDATE = /[:,[]\s*-?\d{16,}\s*[,}\]]/
/** 2^53 */
const LARGEST = '9007199254740992'

type Path = (string | number)[]

const pathsOf = new WeakMap<object, string[]>()

/** Remembers the large integers in the text of a body, which is valid JSON. */
export function noteLargeIntegers(text: string, body: unknown): void {
  if (!CANDIDATE.test(text)) return
  for (const path of findLargeIntegers(text)) {
    let inside: unknown = body
    for (const [depth, name] of path.slice(0, OBJECTS_WITH_PATHS).entries()) {
      if (typeof inside !== 'object' || inside === null) break
      const paths = pathsOf.get(inside) ?? []
      paths.push(path.slice(depth).join('.'))
      pathsOf.set(inside, paths)
      inside = Array.isArray(inside) ? inside[name as number] : isRecord(inside) ? inside[name] : undefined
    }
  }
}

/** Returns warnings for the large integers in the given fields of an object from the body of a request. */
export function warnOfLargeIntegers(raw: unknown, fields: readonly string[]): string[] {
  const paths = isRecord(raw) ? pathsOf.get(raw) : undefined
  if (paths === undefined) return []
  const own = paths.filter((path) => fields.some((field) => path.startsWith(`${field}.`)))
  const warnings = own
    .slice(0, MAX_WARNINGS)
    .map(
      (path) =>
        `${sanitiseText(path.slice(0, MAX_SHOWN)).text} was rounded: JSON numbers are exact up to 2^53; send it as a string`,
    )
  return own.length > MAX_WARNINGS ? [...warnings, `${own.length - MAX_WARNINGS} more numbers were rounded`] : warnings
}

/** Returns the paths of the integers beyond ±2^53 in a JSON text, in order. */
export function findLargeIntegers(text: string): Path[] {
  const found: Path[] = []
  /** The names of members are as in the text, with quotes. */
  const path: Path = []
  let latest = ''
  for (let at = 0; at < text.length && found.length < MAX_PATHS; at++) {
    const sign = text[at]!
    if (sign === '"') {
      const end = endOfString(text, at)
      if (typeof path.at(-1) === 'string') latest = text.slice(at, end)
      at = end - 1
    } else if (sign === ':') path[path.length - 1] = latest
    else if (sign === '{') path.push('')
    else if (sign === '[') path.push(0)
    else if (sign === '}' || sign === ']') path.pop()
    else if (sign === ',') countItem(path)
    else if (sign === '-' || isDigit(sign)) {
      const end = endOfNumber(text, at)
      if (path.length <= MAX_DEPTH && isLarge(text.slice(at, end))) found.push(path.map(nameOf))
      at = end - 1
    }
  }
  return found
}

function countItem(path: Path): void {
  const last = path.at(-1)
  if (typeof last === 'number') path[path.length - 1] = last + 1
}

const nameOf = (part: string | number): string | number =>
  typeof part === 'string' ? (JSON.parse(part) as string) : part

const isDigit = (sign: string): boolean => sign >= '0' && sign <= '9'

/** Returns the place after the closing quote. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && /[\d.eE+-]/.test(text[end]!)) end++
  return end
}

function isLarge(number: string): boolean {
  const digits = number.startsWith('-') ? number.slice(1) : number
  if (digits.length < LARGEST.length || !/^\d+$/.test(digits)) return false
  return digits.length > LARGEST.length || digits > LARGEST
}
