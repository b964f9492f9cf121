import { cutText } from './cut-text.ts'

/** Of the page as it is told; none is left out. */
export function readTitle(): string | undefined {
  return cutText(document.title, 256) || undefined
}
