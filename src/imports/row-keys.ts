/** Idempotency keys of rows. They depend on the content of a row, not on its position in the file. */
import { createHash } from 'node:crypto'
import type { FileRow } from './file-row.ts'

/** Returns a hash of the content of a row. The order of its columns does not matter. */
export function hashRow(row: FileRow): string {
  return hashText('values' in row ? canonicalJson(row.values) : row.text)
}

export const hashText = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 32)

/**
 * Returns the idempotency key of a row. `scope`: the name of the import and the name of the event. Equal rows of
 * different scopes get different keys.
 */
export function keyOf(scope: string[], hash: string, number: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([...scope, hash]))
    .digest('base64url')
  return `import:${digest.slice(0, 32)}:${number}`
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
