/** Finds the links in HTML in one pass, in time that grows only with its length. It reads tags as browsers do. */

/** The value of an `href`. */
export interface FoundLink {
  /** In the HTML, including the quotation marks. */
  start: number
  end: number
  /** As it is written: with references such as `&amp;`, without the quotation marks. */
  raw: string
}

export interface ScannedHtml {
  links: FoundLink[]
  /** Position of the last `</body>`. Null: there is none. */
  bodyEnd: number | null
}

/** Elements that contain text and no tags. */
const TEXT_ONLY = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes'])
const LINKS = new Set(['a', 'area'])

export function scanHtml(html: string): ScannedHtml {
  const found: ScannedHtml = { links: [], bodyEnd: null }
  let at = html.indexOf('<')
  while (at >= 0) {
    const end = skipMarkup(html, at, found)
    if (end === null) break
    at = html.indexOf('<', end)
  }
  return found
}

const TAG = /<(\/?)([a-z][^\s/>]*)/iy

/** End of what begins with this `<`. Null: there is none. */
function skipMarkup(html: string, at: number, found: ScannedHtml): number | null {
  TAG.lastIndex = at
  const [opening, slash, sent = ''] = TAG.exec(html) ?? []
  if (opening === undefined) return skipOther(html, at)
  const name = sent.toLowerCase()
  const tag = readTag(html, at + opening.length)
  if (tag === null) return null
  if (slash === '/') {
    if (name === 'body') found.bodyEnd = at
    return tag.end
  }
  if (LINKS.has(name) && tag.href !== null) found.links.push(tag.href)
  return TEXT_ONLY.has(name) ? skipText(html, tag.end, name) : tag.end
}

/** A comment, a doctype, or just a character. */
function skipOther(html: string, at: number): number | null {
  if (html.startsWith('<!--', at)) {
    // `<!-->` is a complete comment.
    return after(html, '-->', at + 2)
  }
  return /^<[!?/]/.test(html.slice(at, at + 2)) ? after(html, '>', at) : at + 1
}

function after(html: string, words: string, from: number): number | null {
  const at = html.indexOf(words, from)
  return at < 0 ? null : at + words.length
}

/** Up to the end tag. */
function skipText(html: string, from: number, name: string): number | null {
  const closing = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  closing.lastIndex = from
  return closing.exec(html)?.index ?? null
}

const BLANKS = /[\s/]*/y
const ATTRIBUTE = /[^\s/>][^\s/>=]*/y
const EQUALS = /\s*=\s*/y
const UNQUOTED = /[^\s>]*/y

/** Reads attributes up to the end of the tag. Of two with the same name, the first one counts. */
function readTag(html: string, from: number): { end: number; href: FoundLink | null } | null {
  let at = from
  let href: FoundLink | null = null
  for (;;) {
    at = match(html, BLANKS, at)
    if (at >= html.length) return null
    if (html[at] === '>') return { end: at + 1, href }
    const named = match(html, ATTRIBUTE, at)
    const isHref = html.slice(at, named).toLowerCase() === 'href'
    const start = match(html, EQUALS, named)
    at = start
    // Without a value.
    if (start === named || html[start] === '>') continue
    const value = readValue(html, start)
    if (value === null) return null
    if (isHref) href ??= value
    at = value.end
  }
}

function readValue(html: string, start: number): FoundLink | null {
  const quote = html[start] ?? ''
  if (quote !== '"' && quote !== "'") {
    const end = match(html, UNQUOTED, start)
    return { start, end, raw: html.slice(start, end) }
  }
  const close = html.indexOf(quote, start + 1)
  return close < 0 ? null : { start, end: close + 1, raw: html.slice(start + 1, close) }
}

/** End of the match at this position; `at` when there is none. */
function match(html: string, pattern: RegExp, at: number): number {
  pattern.lastIndex = at
  return pattern.test(html) ? pattern.lastIndex : at
}
