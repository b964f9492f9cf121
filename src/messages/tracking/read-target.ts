/** The target of a link, from the value of its `href` in the HTML. */
import { MAX_TARGET } from './token.ts'

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const REFERENCE = /&(?:#x([\da-f]+)|#(\d+)|([a-z][a-z\d]*))(;?)(?=(=?))/gi

/**
 * A URL as `new URL` writes it. Null for links that are not tracked: relative ones, other schemes than http and https,
 * targets longer than MAX_TARGET, and targets with unusual character references.
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
        // `&amp=1` is a parameter, and `&section` has no semicolon.
        const known = end === '' && next === '=' ? undefined : NAMED[name.toLowerCase()]
        isReadable &&= known !== undefined || end === ''
        return known ?? all
      }
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      // Browsers read the references in between as other characters.
      const isPlain = (point >= 0x20 && point < 0x7f) || (point > 0x9f && point <= 0x10ffff)
      isReadable &&= isPlain
      return isPlain ? String.fromCodePoint(point) : all
    },
  )
  return isReadable ? text : null
}
