/**
 * Applies one micro-batch of web events: stamp, insert, commit. The stamp in Postgres records which entries go to
 * ClickHouse as one insert, under one token. The commit moves the position past them. A worker that takes over in
 * between repeats exactly this insert, and ClickHouse ignores the repeat (design, promise 5).
 */
import { backoffMs } from '../async/backoff.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { requireSameInstallation } from '../stores/installation.ts'
import { type Sql, faultKind } from '../stores/postgres.ts'
import { INACTIVE } from '../stream/compose-dead-letter.ts'
import type { MicroBatch, Outcome } from '../stream/micro-batch.ts'
import { sleep } from '../async/sleep.ts'
import { describeFault } from '../stores/insert-lines.ts'
import { commitBatch } from './commit-batch.ts'
import { insertHits } from './insert-hits.ts'
import { type ExcludedCaptures, inactiveOf, linesOf, sightingsOf, tokenOf } from './read-captures.ts'
import { stampBatch } from './stamp-batch.ts'

export interface WebDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
  metrics?: Pick<Metrics, 'webHits' | 'webFailures'>
}

/** Milliseconds after which an insert is aborted. It is then repeated, and ClickHouse counts it once. */
const INSERT_MS = 30_000
const RETRY = { firstMs: 100, maxMs: 3000 }

/**
 * Retries until the batch is written, another owner has the partition, or `signal` aborts. ClickHouse may be away for a
 * long time.
 */
export async function applyWebBatch(
  deps: WebDeps,
  batch: MicroBatch,
  signal: AbortSignal,
  beat: () => void,
): Promise<Outcome> {
  const token = tokenOf(batch)
  for (let failures = 0; !signal.aborted; failures += 1) {
    beat()
    try {
      await requireSameInstallation(deps)
      const stamped = await stampBatch(deps.sql, batch)
      if (stamped.kind === 'fenced') return stamped
      const isOurs = stamped.kind === 'committed' || (await write(deps, batch, token, stamped, signal))
      return isOurs ? { kind: 'applied', answers: [] } : { kind: 'fenced' }
    } catch (error) {
      if (signal.aborted) break
      const isConflict = faultKind(error) === 'conflict'
      reportFailure(deps, batch, error, isConflict)
      await sleep(backoffMs(isConflict ? 1 : failures + 1, RETRY), signal)
    }
  }
  return { kind: 'stopped' }
}

/** Logs the failure. A conflict between two saves in Postgres is not worth a warning. */
function reportFailure(
  { log, metrics }: WebDeps,
  { partition }: MicroBatch,
  error: unknown,
  isConflict: boolean,
): void {
  if (!isConflict) metrics?.webFailures.inc()
  log[isConflict ? 'debug' : 'warn']({ reason: describeFault(error), partition }, 'web events wait, trying again')
}

async function write(
  deps: WebDeps,
  batch: MicroBatch,
  token: string,
  leftOut: ExcludedCaptures,
  signal: AbortSignal,
): Promise<boolean> {
  const lines = linesOf(batch, leftOut)
  const unreadable = await insertHits(
    deps.clickhouse,
    lines,
    token,
    AbortSignal.any([signal, AbortSignal.timeout(INSERT_MS)]),
  )
  const setAside = [...unreadable, ...inactiveOf(batch, leftOut).map((one) => ({ ...one, reason: INACTIVE }))]
  const isMoved = await commitBatch(deps.sql, batch, setAside, sightingsOf(batch, leftOut))
  if (isMoved) deps.metrics?.webHits.inc(lines.length - unreadable.length)
  for (const { reason } of [...batch.poisoned, ...setAside]) {
    if (isMoved) deps.log.error({ partition: batch.partition, reason }, 'web events set aside as a dead letter')
  }
  return isMoved
}
