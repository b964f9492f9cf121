/** What a careless caller sends when it knows nobody (decisions, "Identity"). */
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

/** True when a trimmed identity value is nobody's, in any case of letters. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDERS.has(text.toLowerCase())
}
