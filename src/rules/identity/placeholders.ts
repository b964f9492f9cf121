/** What careless callers send when they do not know the person (decisions, "Identity"). */
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

/** True when a trimmed identity value is a placeholder, in upper or lower case. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDERS.has(text.toLowerCase())
}

/** True when an email is made of such words: its part before the `@`, and its domain's first label (`undefined@undefined`). */
export function isPlaceholderEmail(email: string): boolean {
  const [local = '', domain = '', ...more] = email.split('@', 3)
  return more.length === 0 && domain !== '' && isPlaceholder(local) && isPlaceholder(domain.split('.', 1)[0] ?? '')
}
