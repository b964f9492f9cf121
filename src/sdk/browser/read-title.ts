import { cutText } from './cut-text.ts'

/** The title of the page as it is sent; undefined when it has none. */
export function readTitle(): string | undefined {
  return cutText(document.title, 256) || undefined
}
