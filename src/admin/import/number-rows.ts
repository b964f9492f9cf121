/**
 * Makes an import safe to repeat: the same row always gets the same key, in any order of the rows.
 *
 * The key does not depend on the position of the row in the file, because rows of a shuffled copy have other positions.
 * It depends on the content of the row. Rows with equal content are numbered from 1. Which one is first does not
 * matter, because they are equal.
 *
 * Numbering must not keep every row in memory, so the file is read twice. The first pass finds contents that occur more
 * than once, with a Bloom filter of fixed size: it may report a few too many, but never misses one. The second pass
 * counts only those.
 */
import { createHash } from 'node:crypto'
import type { FileRow } from '../../imports/file-row.ts'
import { hashRow } from '../../imports/row-keys.ts'

export interface Survey {
  rows: number
  /** Hash of the file's rows in their order. */
  fingerprint: string
  /** Hashes of contents that occur more than once, and perhaps a few that do not. */
  repeated: Set<string>
}

const HASHES = 4

/** Reads all rows once. `fileBytes` determines the size of the filter: 1/16 of the file, at most 128 MiB. */
export async function surveyRows(rows: AsyncIterable<FileRow>, fileBytes: number): Promise<Survey> {
  const filter = createFilter(Math.min(Math.max(fileBytes / 2, 2 ** 16), 2 ** 30))
  const fingerprint = createFingerprint()
  const repeated = new Set<string>()
  let count = 0
  for await (const row of rows) {
    const hash = hashRow(row)
    if (filter.addAndCheck(hash)) repeated.add(hash)
    fingerprint.add(hash)
    count++
  }
  return { rows: count, fingerprint: fingerprint.digest(), repeated }
}

/** Returns a hasher of the hashes of all rows, in their order. */
export function createFingerprint(): { add(hash: string): void; digest(): string } {
  const hasher = createHash('sha256')
  return { add: (hash) => void hasher.update(hash), digest: () => hasher.digest('hex').slice(0, 16) }
}

/**
 * Returns a function that numbers the rows of each content from 1. It must see every row of the file, starting with the
 * first.
 */
export function createNumbering(repeated: Set<string>): (hash: string) => number {
  const counts = new Map<string, number>()
  return (hash) => {
    if (!repeated.has(hash)) return 1
    const number = (counts.get(hash) ?? 0) + 1
    counts.set(hash, number)
    return number
  }
}

/** Returns a Bloom filter. `addAndCheck` adds a hash, and returns whether it was (or seemed to be) present already. */
function createFilter(bits: number): { addAndCheck(hash: string): boolean } {
  const words = new Uint32Array(Math.ceil(bits / 32))
  const size = words.length * 32
  return {
    addAndCheck(hash) {
      const numbers = Buffer.from(hash, 'base64url')
      let known = true
      for (let index = 0; index < HASHES; index++) {
        const bit = numbers.readUInt32LE(index * 4) % size
        const word = words[bit >>> 5] ?? 0
        const mask = 1 << (bit & 31)
        if ((word & mask) === 0) known = false
        words[bit >>> 5] = word | mask
      }
      return known
    },
  }
}
