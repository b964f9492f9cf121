/** The language of the dashboard's pages: what a person has chosen in this browser, else what the browser prefers. */
import { preferredLanguage } from './negotiate.ts'

export const PAGE_LANGUAGES = ['en', 'de', 'he'] as const
export type PageLanguage = (typeof PAGE_LANGUAGES)[number]

export const pageLanguage = (headers: Headers): PageLanguage =>
  readCookie(headers, 'sluice_language', PAGE_LANGUAGES) ??
  preferredLanguage(headers.get('accept-language'), PAGE_LANGUAGES) ??
  'en'

/** Anything but a known value is as good as none: it goes into the page. */
export function readCookie<Known extends string>(
  headers: Headers,
  name: string,
  known: readonly Known[],
): Known | undefined {
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  return known.find((one) => pairs.includes(`${name}=${one}`))
}
