/**
 * The events of one row of the outbox: JSON lines (outbox-row.ts), or the same packed when they are long, which spares Postgres
 * most of its work: it cuts what is long into pieces of 2 kB. Packed: `zstd:`, the bytes of the lines, `:`, base64.
 * Statements that look into the lines have them written out first (unpack-rows.ts).
 */
import { Buffer } from 'node:buffer'
import { zstdDecompressSync } from 'node:zlib'
import { packText } from '../stream/pack-text.ts'

export function writeLines(lines: string[]): string {
  const text = lines.join('\n')
  const packed = packText(text, lines.length)
  return packed ? `zstd:${Buffer.byteLength(text)}:${packed.toString('base64')}` : text
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
