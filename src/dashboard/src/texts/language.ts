/** The language of the page, and the form that a number takes in it. */
export const LANGUAGES = { en: 'English', de: 'Deutsch', he: 'עברית' } as const
export type Language = keyof typeof LANGUAGES

const lang = document.documentElement.lang
export const language: Language = lang in LANGUAGES ? (lang as Language) : 'en'

/** The form of `count` in this language: `other` where there is no such form. */
export function plural(count: number, forms: { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>): string {
  return forms[new Intl.PluralRules(language).select(count)] ?? forms.other
}
