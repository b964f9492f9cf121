/** The values that a template may read. */

const CONTACT = [
  'firstName',
  'lastName',
  'email',
  'phone',
  'country',
  'city',
  'language',
  'timezone',
  'stage',
  'revenue',
] as const

const EXACT = new Set([
  ...CONTACT.map((name) => `contact.${name}`),
  'event.name',
  'enrolment.key',
  'unsubscribeUrl',
  'preferencesUrl',
  'confirmUrl',
  'business.name',
])
/** These values and everything below them. */
const OPEN = [
  ['contact', 'customFields'],
  ['event', 'properties'],
]
/** The data of a send call. */
const DATA = 'data'

export const READABLE = `${[...EXACT].join(', ')}, contact.customFields.…, event.properties.… and, in a send call, data.…`

/** @param path its segments; a list is a segment that a value decides */
export function mayRead(path: readonly unknown[]): boolean {
  if (path[0] === DATA) return true
  if (OPEN.some(([first, second]) => path[0] === first && path[1] === second)) return true
  return path.every((part) => typeof part === 'string') && EXACT.has(path.join('.'))
}

/** Returns the names directly under `data` that are among these paths. Null: they read no data. */
export function dataNamesIn(paths: readonly (readonly unknown[])[]): string[] | null {
  const reads = paths.filter(([first]) => first === DATA)
  if (reads.length === 0) return null
  return [...new Set(reads.flatMap(([, name]) => (typeof name === 'string' ? [name] : [])))].toSorted()
}

export const showPath = (path: readonly unknown[]): string =>
  path.map((part) => (Array.isArray(part) ? `[${showPath(part)}]` : String(part))).join('.')
