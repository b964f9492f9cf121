/** The languages of the dashboard, of the mails about it, and of the pages that links in messages lead to. */
export const PAGE_LANGUAGES = ['en', 'de', 'he'] as const
export type PageLanguage = (typeof PAGE_LANGUAGES)[number]
