/**
 * Returns Postgres' `shared_buffers` for a machine or container with this much memory, both in megabytes: an eighth (at
 * most 4 GB), because other processes need memory, too, but at least 512 MB if that is at most a quarter. Postgres
 * takes the memory as tables grow.
 */
export function chooseBuffers(memory: number): number {
  const start = Math.min(512, memory / 4)
  return Math.floor(Math.max(start, Math.min(4096, memory / 8)))
}
