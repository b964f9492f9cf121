/** The page that both values lead to lets a person unsubscribe. */
const LINK = /\b(?:unsubscribeUrl|preferencesUrl)\b/
/** A mail that asks for the confirmation of an opt-in has nothing to unsubscribe from yet. */
const CONFIRMATION = /\bconfirmUrl\b/

interface Mail {
  html?: string
  mjml?: string
  text?: string
}

/**
 * Returns the languages of an email template in whose text a person finds no link to unsubscribe. A marketing mail
 * needs one: few people find what their mail program makes of the header `List-Unsubscribe`.
 */
export const languagesWithoutUnsubscribe = (variants: Record<string, Mail>): string[] =>
  Object.entries(variants).flatMap(([language, { html, mjml, text }]) => {
    // The text is a second form of the same mail, shown only by programs that show no HTML.
    const shown = html ?? mjml ?? text ?? ''
    return shown === '' || LINK.test(shown) || CONFIRMATION.test(shown) ? [] : [language]
  })

/** `path`: of the template, or of the step that sends it. */
export const warnOfUnsubscribe = (path: string, languages: readonly string[]): string =>
  `${path} has no link to unsubscribe (${languages.join(', ')}): in a marketing mail, link to {{unsubscribeUrl}} or {{preferencesUrl}}`
