/** Where a link leads, from the value of its `href` as it stands in the HTML. */
import { MAX_TARGET } from './token.ts'

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const REFERENCE = /&(?:#x([\da-f]+)|#(\d+)|([a-z][a-z\d]*))(;?)(?=(=?))/gi

/**
 * An address as `new URL` writes it. Null for what is not tracked: one that is not absolute, of another scheme than http and https, or
 * longer than MAX_TARGET, and one whose references are not those that addresses need.
 */
export function readTarget(raw: string): string | null {
  if (raw.length > MAX_TARGET * 2) return null
  const text = decodeReferences(raw)
  if (text === null || !URL.canParse(text)) return null
  const { protocol, href } = new URL(text)
  return (protocol === 'https:' || protocol === 'http:') && href.length <= MAX_TARGET ? href : null
}

function decodeReferences(raw: string): string | null {
  let isReadable = true
  const text = raw.replaceAll(
    REFERENCE,
    (all, hex?: string, decimal?: string, name?: string, end?: string, next?: string) => {
      if (name !== undefined) {
        // `&amp=1` is a parameter, and `&section` has no end.
        const known = end === '' && next === '=' ? undefined : NAMED[name.toLowerCase()]
        isReadable &&= known !== undefined || end === ''
        return known ?? all
      }
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      // Browsers read those between as other characters.
      const isPlain = (point >= 0x20 && point < 0x7f) || (point > 0x9f && point <= 0x10ffff)
      isReadable &&= isPlain
      return isPlain ? String.fromCodePoint(point) : all
    },
  )
  return isReadable ? text : null
}
