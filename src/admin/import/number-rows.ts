/**
 * What makes an import safe to repeat: the same row always gets the same key, in whatever order the rows come.
 *
 * A key cannot hold the row's place in the file (a shuffled copy has other places), so it holds the row's content. Rows of
 * equal content are told apart by counting them: the first of them is number 1, the next number 2. Which one is first does
 * not matter, since they are equal.
 *
 * Counting must not keep every row in memory. So the file is read twice: the first reading finds the contents that
 * come more than once (a Bloom filter of fixed size may name a few too many, and never misses one), the second counts only those.
 */
import { createHash } from 'node:crypto'
import type { Row } from './read-rows.ts'

export interface Survey {
  rows: number
  /** Tells one file (and order of rows) from another. */
  fingerprint: string
  /** Contents that come more than once, and perhaps a few that do not. */
  repeated: Set<string>
}

const HASHES = 4

/** The content of a row as a short text: equal for equal content, whatever the order of its columns. */
export function hashRow(row: Row): string {
  const content = 'values' in row ? canonicalJson(row.values) : row.text
  return createHash('sha256').update(content).digest('base64url').slice(0, 32)
}

/** Reads all rows once. `fileBytes` sizes the filter: 1/16 of the file, 128 MiB at most. */
export async function surveyRows(rows: AsyncIterable<Row>, fileBytes: number): Promise<Survey> {
  const filter = createFilter(Math.min(Math.max(fileBytes / 2, 2 ** 16), 2 ** 30))
  const fingerprint = createFingerprint()
  const repeated = new Set<string>()
  let count = 0
  for await (const row of rows) {
    const hash = hashRow(row)
    if (filter.addAndReport(hash)) repeated.add(hash)
    fingerprint.add(hash)
    count++
  }
  return { rows: count, fingerprint: fingerprint.tell(), repeated }
}

/** Of the hashes of all rows, in their order. */
export function createFingerprint(): { add(hash: string): void; tell(): string } {
  const digest = createHash('sha256')
  return { add: (hash) => void digest.update(hash), tell: () => digest.digest('hex').slice(0, 16) }
}

/** Numbers each content from 1; it must see every row of the file, from the first on. */
export function createNumbering(repeated: Set<string>): (hash: string) => number {
  const counts = new Map<string, number>()
  return (hash) => {
    if (!repeated.has(hash)) return 1
    const number = (counts.get(hash) ?? 0) + 1
    counts.set(hash, number)
    return number
  }
}

/** `scope` keeps rows apart on purpose: the event's name, and the name of the import if it has one. */
export function keyOf(scope: string[], hash: string, number: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([...scope, hash]))
    .digest('base64url')
  return `import:${digest.slice(0, 32)}:${number}`
}

/** A set that forgets what is in it but not that it is: `addAndReport` answers whether the text was there (or looked so). */
function createFilter(bits: number): { addAndReport(hash: string): boolean } {
  const words = new Uint32Array(Math.ceil(bits / 32))
  const size = words.length * 32
  return {
    addAndReport(hash) {
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

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
