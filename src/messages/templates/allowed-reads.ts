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

export const READABLE = `${[...EXACT].join(', ')}, contact.customFields.… and event.properties.…`

/** @param path its segments; a list is a segment that a value decides */
export function mayRead(path: readonly unknown[]): boolean {
  if (OPEN.some(([first, second]) => path[0] === first && path[1] === second)) return true
  return path.every((part) => typeof part === 'string') && EXACT.has(path.join('.'))
}

export const showPath = (path: readonly unknown[]): string =>
  path.map((part) => (Array.isArray(part) ? `[${showPath(part)}]` : String(part))).join('.')
