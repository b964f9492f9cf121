/**
 * Postgres' `shared_buffers`, for a machine or container of so much memory, both in megabytes. An eighth of it, for others
 * live there too; where that is less than they need for a start, more. They are taken as the tables grow.
 */
export function chooseBuffers(memory: number): number {
  const start = Math.min(512, memory / 4)
  return Math.floor(Math.max(start, Math.min(4096, memory / 8)))
}
