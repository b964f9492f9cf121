/**
 * Compresses long texts on their way through Redis. Redis and its log copy each byte many times, and scripts read each
 * byte of their arguments. JSON shrinks to a fifth or less, and compressing it takes a fraction of the time that this
 * saves.
 */
import { Buffer } from 'node:buffer'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Minimum characters for compression to pay. */
const LONG = 16 * 1024
/** The first bytes decide whether compression pays: random text does not shrink. */
const SAMPLE = 64 * 1024
const WORTH = 0.5
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** The first bytes of a zstd frame (RFC 8878). JSON never begins with them. */
const MAGIC = 0xfd2fb528

/**
 * Compresses a text. Returns undefined when compression does not pay: for short texts, and for those that do not shrink
 * to half.
 */
export function packText(text: string): Buffer | undefined {
  if (text.length < LONG) return undefined
  const bytes = Buffer.from(text)
  const sample = zstdCompressSync(bytes.subarray(0, SAMPLE), FAST)
  if (sample.length > WORTH * Math.min(bytes.length, SAMPLE)) return undefined
  return bytes.length <= SAMPLE ? sample : zstdCompressSync(bytes, FAST)
}

/** Decompresses a text. Never throws: bytes that are not a zstd frame are returned as text. */
export function unpackText(bytes: Buffer): string {
  if (bytes.length < 4 || bytes.readUInt32LE() !== MAGIC) return bytes.toString()
  try {
    return zstdDecompressSync(bytes).toString()
  } catch {
    return bytes.toString()
  }
}
