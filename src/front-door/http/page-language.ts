/**
 * The language of the dashboard's pages: the one that a person has chosen in this browser, or else the one that the
 * browser prefers.
 */
import { PAGE_LANGUAGES, type PageLanguage } from '../../rules/page-language.ts'
import { preferredLanguage } from './negotiate.ts'

export const pageLanguage = (headers: Headers): PageLanguage =>
  readCookie(headers, 'sluice_language', PAGE_LANGUAGES) ??
  preferredLanguage(headers.get('accept-language'), PAGE_LANGUAGES) ??
  'en'

/** Returns the value of a cookie, or undefined when it is not a known value: it is written into the page. */
export function readCookie<Known extends string>(
  headers: Headers,
  name: string,
  known: readonly Known[],
): Known | undefined {
  const pairs = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim())
  return known.find((one) => pairs.includes(`${name}=${one}`))
}
