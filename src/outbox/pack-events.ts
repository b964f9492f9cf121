/**
 * The events of an outbox row: JSON lines (timeline-row.ts), compressed when they are long. Compression saves Postgres
 * most of its work, since it splits long values into pieces of 2 kB. The format is `zstd:`, the number of bytes of the
 * lines, `:`, base64. Statements that search the lines have them unpacked first (unpack-rows.ts).
 */
import { Buffer } from 'node:buffer'
import { zstdDecompressSync } from 'node:zlib'
import { packText } from '../stream/pack-text.ts'

export function writeLines(lines: string[]): string {
  const text = lines.join('\n')
  const packed = packText(text)
  return packed ? `zstd:${Buffer.byteLength(text)}:${packed.toString('base64')}` : text
}

export function linesOf(events: string): string[] {
  return unpackEvents(events).split('\n').filter(Boolean)
}

/** Returns the lines as one text. */
export function unpackEvents(events: string): string {
  if (!events.startsWith('zstd:')) return events
  const packed = events.slice(events.indexOf(':', 'zstd:'.length) + 1)
  return zstdDecompressSync(Buffer.from(packed, 'base64')).toString()
}
