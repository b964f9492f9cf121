/** Finds what MJML has dropped without an error. */
import { type Fault, faultOf } from '../../rules/faults.ts'

const LIQUID = /\{\{.*?\}\}|\{%.*?%\}/gs
const WORD = /[\p{L}\p{N}]+/gu
const MAX_SHOWN = 100
/** What is in these elements is in no text of the HTML, or in no text at all. */
const WITHOUT_TEXT = new Set(['mj-style', 'mj-html-attributes', 'style', 'script'])

/** Elements that MJML ignores or that it loses together with what is in them. */
export function findIgnored(source: string): Fault | undefined {
  const pieces = walkMarkup(withoutLiquid(source))
  const tags = pieces.filter(({ kind }) => kind === 'tag')
  const upper = tags.find(({ name }) => /^mj/i.test(name) && name !== name.toLowerCase())
  if (upper !== undefined) return faultOf('', 'mjml_letters', { value: upper.name })
  if (tags.some(({ name }) => name === 'mj-include')) return faultOf('', 'no_include')
  if (tags.filter(({ name }) => name === 'mj-body').length > 1) return faultOf('', 'mjml_bodies')
  return pieces.some(
    ({ kind, text }, place) => kind === 'skipped' && text.includes('@media') && isInline(pieces[place - 1]),
  )
    ? faultOf('', 'lost_media')
    : undefined
}

const isInline = (piece: Piece | undefined): boolean =>
  piece?.name === 'mj-style' && /\binline\s*=\s*["']inline["']/.test(piece.text)

/** Liquid and words of the source that the HTML lacks. */
export function findLost(source: string, html: string): Fault | undefined {
  const liquid = firstLost(source.match(LIQUID) ?? [], countEach(html.match(LIQUID) ?? []))
  if (liquid !== undefined) return faultOf('', 'lost_liquid', { value: shorten(liquid) })
  const open = walkMarkup(withoutLiquid(html)).find(({ kind, name }) => kind === 'tag' && name.startsWith('mj-'))
  if (open !== undefined) return faultOf('', 'mjml_open', { value: open.name })
  const kept = countEach(textsOf(html).flatMap(wordsOf))
  for (const text of textsOf(source))
    if (firstLost(wordsOf(text), kept) !== undefined) return faultOf('', 'lost_text', { value: shorten(text) })
  return undefined
}

/** Returns the first for which nothing is left in `kept`. Each takes one of its kind. */
function firstLost(wanted: readonly string[], kept: Map<string, number>): string | undefined {
  return wanted.find((one) => {
    const left = kept.get(one) ?? 0
    kept.set(one, left - 1)
    return left <= 0
  })
}

function countEach(found: readonly string[]): Map<string, number> {
  const times = new Map<string, number>()
  for (const one of found) times.set(one, (times.get(one) ?? 0) + 1)
  return times
}

const withoutLiquid = (source: string): string => source.replaceAll(LIQUID, ' ')
const shorten = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SHOWN)
const wordsOf = (text: string): string[] => text.match(WORD) ?? []

/** The texts between tags, without Liquid and comments. */
const textsOf = (source: string): string[] =>
  walkMarkup(withoutLiquid(source)).flatMap(({ kind, text }) => (kind === 'text' ? [text] : []))

interface Piece {
  /** `tag`: an opening one. `skipped`: what is in an element of WITHOUT_TEXT. */
  kind: 'tag' | 'text' | 'skipped'
  /** Of the tag, as it is written. */
  name: string
  text: string
}

const CDATA = '<![CDATA['
const COMMENT = '<!--'
const TAG = /<\/?([a-z][\w:-]*)/iy

/** In their order. Reads each character once. */
function walkMarkup(source: string): Piece[] {
  const pieces: Piece[] = []
  /** The element of WITHOUT_TEXT that is open. */
  let skipped: string | undefined
  let at = 0
  const addText = (end: number) => {
    const text = source.slice(at, end)
    if (text.trim() !== '') pieces.push({ kind: skipped === undefined ? 'text' : 'skipped', name: '', text })
  }
  for (let start = source.indexOf('<'); start !== -1; start = source.indexOf('<', Math.max(at, start + 1))) {
    const end = endOf(source, start)
    if (end === undefined) continue
    const { name, isClosing } = nameAt(source, start)
    if (skipped !== undefined && !(isClosing && name === skipped)) continue
    addText(start)
    at = end
    skipped = undefined
    if (name === '' || isClosing) continue
    pieces.push({ kind: 'tag', name, text: source.slice(start, end) })
    if (WITHOUT_TEXT.has(name) && source[end - 2] !== '/') skipped = name
  }
  addText(source.length)
  return pieces
}

function nameAt(source: string, start: number): { name: string; isClosing: boolean } {
  TAG.lastIndex = start
  return { name: TAG.exec(source)?.[1] ?? '', isClosing: source[start + 1] === '/' }
}

/** Where the tag or comment ends that starts there; undefined for a sign "less than" in a text. */
function endOf(source: string, start: number): number | undefined {
  if (source.startsWith(COMMENT, start)) return after(source, '-->', start)
  if (source.startsWith(CDATA, start)) return start + CDATA.length
  if (!/[a-z/!?]/i.test(source[start + 1] ?? '')) return undefined
  for (let at = start + 1; at < source.length; at += 1) {
    const sign = source[at]
    if (sign === '>') return at + 1
    if (sign !== '"' && sign !== "'") continue
    const end = source.indexOf(sign, at + 1)
    if (end === -1) break
    at = end
  }
  return source.length
}

function after(source: string, text: string, from: number): number {
  const found = source.indexOf(text, from)
  return found === -1 ? source.length : found + text.length
}
