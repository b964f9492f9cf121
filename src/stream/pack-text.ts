/**
 * Long texts travel packed: a byte is copied many times on its way through Redis and its log, and Redis' scripts read each
 * byte of their arguments. JSON packs to a fifth or less in a fraction of that time.
 */
import type { Buffer } from 'node:buffer'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Characters. Shorter ones gain nothing. */
const LONG = 16 * 1024
export const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** With this begins what is packed (RFC 8878), and no JSON. */
const MAGIC = 0xfd2fb528

/** The text itself, or packed when it is long. */
export function packText(text: string): string | Buffer {
  return text.length < LONG ? text : zstdCompressSync(text, FAST)
}

/** Never throws: what was not packed by us is text as it came. */
export function unpackText(bytes: Buffer): string {
  if (bytes.length < 4 || bytes.readUInt32LE() !== MAGIC) return bytes.toString()
  try {
    return zstdDecompressSync(bytes).toString()
  } catch {
    return bytes.toString()
  }
}
