import { countSegments } from '../../src/embedded/use-wal.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import type { Bench } from './bench.ts'

/** Compilers, caches and connections are as in a service that has run for a while. */
export async function warmUp(bench: Bench): Promise<void> {
  const single = await bench.openCallers({ kind: 'typical', prefix: 'warm-' })
  await bench.send([single, { pace: { kind: 'closed' }, connections: 200, seconds: bench.length(5, 15) }])
  const past = await bench.openCallers({ kind: 'batch', prefix: 'warm-batch-', size: 500 })
  await bench.send([past, { pace: { kind: 'closed' }, connections: 4, seconds: bench.length(1, 5) }])
  if (!bench.quick) await fillWal(bench.stack.own.sql)
}

/** `max_wal_size` in segments of 16 MB. */
const MOST_SEGMENTS = 128

/** To a log as it is after the first checkpoints: from then on segments are used again, and none is new. */
async function fillWal(sql: Sql): Promise<void> {
  // A checkpoint that comes between gives back what it may.
  for (let used = 0; used < 2 * MOST_SEGMENTS && (await countSegments(sql)) < MOST_SEGMENTS; used += 1)
    await sql`select pg_logical_emit_message(false, 'bench', ''), pg_switch_wal()`
  await sql`checkpoint`
}
