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
])

/** Returns true when a trimmed identity value is a placeholder, ignoring case. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDERS.has(text.toLowerCase())
}

/**
 * Returns true when an email consists of placeholders: the part before the `@`, and the first label of the domain
 * (`undefined@undefined`).
 */
export function isPlaceholderEmail(email: string): boolean {
  const [local = '', domain = '', ...more] = email.split('@', 3)
  return more.length === 0 && domain !== '' && isPlaceholder(local) && isPlaceholder(domain.split('.', 1)[0] ?? '')
}
