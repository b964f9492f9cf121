/** The languages of the variants of a template. */

const MAX_LENGTH = 64

/** The usual form of a language tag, such as `pt-BR`; null for a text that is not one. `_` counts as `-`. */
export function readLanguage(text: string): string | null {
  if (text.length > MAX_LENGTH) return null
  try {
    return Intl.getCanonicalLocales(text.trim().replaceAll('_', '-'))[0] ?? null
  } catch {
    return null
  }
}

/** The language to send in: the contact's, else the same without its last parts (`pt-BR`, then `pt`), else `fallback`. */
export function chooseLanguage(wanted: string | null, languages: readonly string[], fallback: string): string {
  const parts = (wanted === null ? null : readLanguage(wanted))?.toLowerCase().split('-') ?? []
  for (let many = parts.length; many > 0; many--) {
    const tag = parts.slice(0, many).join('-')
    const found = languages.find((one) => one.toLowerCase() === tag)
    if (found !== undefined) return found
  }
  return fallback
}
