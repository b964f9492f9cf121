import { tmpdir } from 'node:os'
import { preallocateWal } from '../../src/embedded/postgres/preallocate-wal.ts'
import type { Bench } from './bench.ts'

/** `max_wal_size` in segments of 16 MB. */
const MOST_SEGMENTS = 128

/** Puts compilers, caches and connections into the state of a service that has run for a while. */
export async function warmUp(bench: Bench): Promise<void> {
  const single = await bench.openCallers({ kind: 'typical', prefix: 'warm-' })
  await bench.send([single, { pace: { kind: 'closed' }, connections: 200, seconds: bench.length(5, 15) }])
  const past = await bench.openCallers({ kind: 'batch', prefix: 'warm-batch-', size: 500 })
  await bench.send([past, { pace: { kind: 'closed' }, connections: 4, seconds: bench.length(1, 5) }])
  // Brings the WAL into its state after the first checkpoints: segments are reused, and none is new.
  if (!bench.quick) await preallocateWal(bench.stack.stores.databaseUrl, tmpdir(), MOST_SEGMENTS)
}
