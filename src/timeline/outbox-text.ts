/**
 * The events of one row of the outbox: JSON lines (outbox-row.ts), or the same packed when they are long, which spares Postgres
 * most of its work: it cuts what is long into pieces of 2 kB. Packed: `zstd:`, the length of the lines, `:`, base64.
 * Statements that look into the lines have them written out first (unpack-rows.ts).
 */
import { Buffer } from 'node:buffer'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { FAST } from '../stream/pack-text.ts'

/** Characters: of all, and of a line on average. Many short lines are cheaper as they are. */
const LONG = 16 * 1024
const LONG_LINES = 4 * 1024

export function writeLines(lines: string[]): string {
  const text = lines.join('\n')
  if (text.length < LONG || text.length < LONG_LINES * lines.length) return text
  const bytes = Buffer.from(text)
  return `zstd:${bytes.length}:${zstdCompressSync(bytes, FAST).toString('base64')}`
}

export function linesOf(events: string): string[] {
  return unpackEvents(events).split('\n').filter(Boolean)
}

/** The lines as one text. */
export function unpackEvents(events: string): string {
  if (!events.startsWith('zstd:')) return events
  const packed = events.slice(events.indexOf(':', 'zstd:'.length) + 1)
  return zstdDecompressSync(Buffer.from(packed, 'base64')).toString()
}
