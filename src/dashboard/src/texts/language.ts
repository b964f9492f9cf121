/** The language of the page. */
export const LANGUAGES = { en: 'English', de: 'Deutsch', he: 'עברית' } as const
export type Language = keyof typeof LANGUAGES

const lang = document.documentElement.lang
export const language: Language = lang in LANGUAGES ? (lang as Language) : 'en'
