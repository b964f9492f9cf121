import { trimSigns } from '../events/text.ts'

/** Values that careless callers send when they do not know the person (decisions, "Identity"). */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  '',
  'null',
  'undefined',
  'none',
  'n/a',
  'nan',
  'anonymous',
  'guest',
  'unknown',
  'true',
  'false',
  '[object object]',
  '0',
  '-1',
  'id',
  'userid',
  'user_id',
  'email',
  'distinctid',
  'distinct_id',
  'not_authenticated',
  'unauthenticated',
])

const QUOTE = /^["'`´‘’‚“”„«»‹›\s]$/

const unquote = (text: string): string => trimSigns(text, QUOTE)

/** Returns true when a trimmed identity value is a placeholder, in any case, and also between quotes. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDERS.has(unquote(text).toLowerCase())
}

/**
 * Returns true when an email consists of placeholders: the part before the `@`, and the first label of the domain
 * (`undefined@undefined`).
 */
export function isPlaceholderEmail(email: string): boolean {
  const text = unquote(email)
  const at = text.indexOf('@')
  // Nearly no email begins with a placeholder, so that is looked at first.
  if (at < 0 || !isPlaceholder(text.slice(0, at))) return false
  const domain = text.slice(at + 1)
  return domain !== '' && !domain.includes('@') && isPlaceholder(domain.split('.', 1)[0] ?? '')
}
