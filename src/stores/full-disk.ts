/** A full disk is the one trouble that does not pass by itself: an operator has to make room. */

/** What the system, Redis, Postgres (53100) and ClickHouse say of it. */
const FULL = /no space left on device|ENOSPC|NOT_ENOUGH_SPACE|not enough space|short write while writing to the AOF/i
const POSTGRES_DISK_FULL = '53100'

/** True for a store's error, or its last words, that tell of a full disk. */
export function isFullDiskError(trouble: unknown): boolean {
  if (!(trouble instanceof Error)) return FULL.test(String(trouble))
  const { code = '', type = '' } = trouble as { code?: string; type?: string }
  return code === POSTGRES_DISK_FULL || FULL.test(`${code} ${type} ${trouble.message}`)
}
