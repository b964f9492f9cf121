import type { Redis } from '../../stores/redis.ts'
import type { PartitionKind } from '../partitions/partition-of.ts'
import { createReader } from './stream-reader.ts'

/** Time limit, in milliseconds, of the read. */
const PROBE_MS = 1000

/** Resolves with true when a new connection can read from Redis. */
export async function canRead(
  { connectReader }: { connectReader: () => Redis },
  [kind]: readonly PartitionKind[],
): Promise<boolean> {
  const reader = createReader(connectReader, `${kind}-0`, { blockMs: 0, graceMs: PROBE_MS })
  try {
    await reader.readAtOnce('$', 1)
    return true
  } catch {
    return false
  } finally {
    reader.close()
  }
}
