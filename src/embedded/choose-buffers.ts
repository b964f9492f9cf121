/**
 * Postgres' `shared_buffers` for a machine or container with this memory, both in megabytes: an eighth, because other processes
 * need memory, too, but up to 512 MB where a quarter allows it. Postgres uses them as the tables grow.
 */
export function chooseBuffers(memory: number): number {
  const start = Math.min(512, memory / 4)
  return Math.floor(Math.max(start, Math.min(4096, memory / 8)))
}
