/** Recognises a full disk, the only trouble that does not end without an operator, who must free space. */

/** Messages and codes of the operating system, Redis and ClickHouse. */
const FULL = /no space left on device|ENOSPC|NOT_ENOUGH_SPACE|not enough space|short write while writing to the AOF/i
const POSTGRES_DISK_FULL = '53100'

/** Returns whether a store's error, or its last output, means that a disk is full. */
export function isFullDiskError(trouble: unknown): boolean {
  if (!(trouble instanceof Error)) return FULL.test(String(trouble))
  const { code = '', type = '' } = trouble as { code?: string; type?: string }
  return code === POSTGRES_DISK_FULL || FULL.test(`${code} ${type} ${trouble.message}`)
}
