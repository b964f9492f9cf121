/** The languages of a template's variants. */

const MAX_LENGTH = 64

/** Returns the canonical form of a language tag, such as `pt-BR`; null when the text is not one. `_` counts as `-`. */
export function readLanguage(text: string): string | null {
  if (text.length > MAX_LENGTH) return null
  try {
    return Intl.getCanonicalLocales(text.trim().replaceAll('_', '-'))[0] ?? null
  } catch {
    return null
  }
}

/**
 * Returns the language to send in: the contact's, or the same without its last parts (`pt-BR`, then `pt`), or
 * `fallback`.
 */
export function chooseLanguage(wanted: string | null, languages: readonly string[], fallback: string): string {
  const parts = (wanted === null ? null : readLanguage(wanted))?.toLowerCase().split('-') ?? []
  for (let many = parts.length; many > 0; many--) {
    const tag = parts.slice(0, many).join('-')
    const found = languages.find((one) => one.toLowerCase() === tag)
    if (found !== undefined) return found
  }
  return fallback
}
