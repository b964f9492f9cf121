/** Recognises a full disk, the one trouble that does not end by itself: an operator must free space. */

/** Messages and codes of the system, Redis and ClickHouse. */
const FULL = /no space left on device|ENOSPC|NOT_ENOUGH_SPACE|not enough space|short write while writing to the AOF/i
const POSTGRES_DISK_FULL = '53100'

/** Whether a store's error, or its last output, means a full disk. */
export function isFullDiskError(trouble: unknown): boolean {
  if (!(trouble instanceof Error)) return FULL.test(String(trouble))
  const { code = '', type = '' } = trouble as { code?: string; type?: string }
  return code === POSTGRES_DISK_FULL || FULL.test(`${code} ${type} ${trouble.message}`)
}
