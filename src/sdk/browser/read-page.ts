/** The page as it is told. */
import { cleanUrl } from './clean-url.ts'
import { cutText } from './cut-text.ts'

export function readUrl(): string {
  return cutText(cleanUrl(location.href), 2048)
}

/** None is left out. */
export function readTitle(): string | undefined {
  return cutText(document.title, 256) || undefined
}
