import { cutText } from './cut-text.ts'

/** Returns the page title as it is sent; undefined when there is none. */
export function readTitle(): string | undefined {
  return cutText(document.title, 256) || undefined
}
