/**
 * Repairs of ClickHouse are requested in Postgres, where the shipper reads them. So a repair never conflicts with the
 * shipper, and is done even if this process is killed. Requesting it twice makes no difference, because the shipper
 * checks what ClickHouse has before it sends (timeline/shipping/claim-resends.ts).
 */
import { runTimeline } from '../../timeline/run-timeline.ts'
import type { RepairDeps } from './kind.ts'
import { waitUntilFewer } from './wait-until-fewer.ts'

/**
 * Maximum number of repairs that are requested but not done, because each read of a timeline also reads the rows that
 * wait in the outbox.
 */
export const MAX_PENDING = 100
/** As long as a Postgres date allows. */
const FOR_EVER = 99_999 * 86_400_000

/**
 * Runs a shipper during a repair. Where workers are running, one of theirs has the lease and does the work, and this
 * one waits; otherwise this one does it. Any number of shippers may run (timeline/lease.ts).
 */
export async function withShipper<Result>(deps: RepairDeps, work: () => Promise<Result>): Promise<Result> {
  const stopping = new AbortController()
  const { writer: sql, clickhouse, log, config } = deps
  // Purges nothing, because only the workers know how long the outbox keeps rows.
  const shipping = runTimeline(
    { sql, clickhouse, log, config: { ...config, outboxKeepMs: FOR_EVER, anonymousKeepMs: FOR_EVER } },
    stopping.signal,
  )
  try {
    return await work()
  } finally {
    stopping.abort()
    await shipping
  }
}

/** Resolves when at most `max` requested repairs are not done. Throws CommandError when nothing progresses. */
export async function waitUntilRepaired(deps: RepairDeps, max: number): Promise<void> {
  await waitUntilFewer(deps, {
    count: () => countPending(deps),
    max,
    describe: (left) => `${left} repairs in progress`,
    stalled: (left) => `${left} repairs are requested but not done. Check ClickHouse; they continue when it works`,
  })
}

/**
 * Returns the number of repairs that are requested but not done, including all unfinished erasures from before the
 * command started. Excludes visits that wait for web workers, which will finish them.
 */
async function countPending({ sql, startedAt }: RepairDeps): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select (select count(*)::int from outbox where shipped_at is null and resend is not null)
      + (select count(*)::int from erasures where deleted_at is null and erased_at < ${startedAt})
      + (
        select count(*)::int from erased_visits
        where deleted_at is null and to_at < ${startedAt.getTime()}
          and not exists (select from positions where partition || ' ' || pending = any (behind))
      ) as rows`
  return row?.rows ?? 0
}
