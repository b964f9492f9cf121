/**
 * After an erasure, the rows of the person are deleted, but files still contain their bytes: dead rows, index entries
 * and column statistics in Postgres, old entries in the append-only file of Redis. This job cleans both within a day of
 * the erasure. docs/security.md says what remains, where, and for how long.
 */
import type { Logger } from '../log.ts'
import { connectPostgres, type Sql } from '../stores/postgres.ts'
import { connectRedis, type Redis, whenReady } from '../stores/redis.ts'
import { sleep } from '../async/sleep.ts'

/** The tables that `erase_contact` and the steps after it delete from. */
export const CLEANED_TABLES = [
  'call_attachments',
  'calls',
  'chain_refusals',
  'confirmations',
  'consent_history',
  'contact_visitors',
  'contacts',
  'dead_letters',
  'deliveries',
  'due_calls',
  'due_steps',
  'enrolments',
  'event_statistics',
  'goal_times',
  'identifications',
  'identities',
  'keyed_enrolments',
  'logged_messages',
  'merge_log',
  'messages',
  'outbox',
  'push_subscriptions',
  'removed_tags',
  'revenue',
  'segment_clock',
  'segment_members',
  'segment_window_refreshes',
  'segment_windows',
  'subscriptions',
  'topic_choices',
  'topic_history',
  'visitor_events',
  'visitor_links',
  'visitor_touches',
  'visitors',
  'whatsapp_ids',
]

export interface CleaningDeps {
  sql: Sql
  databaseUrl: string
  redisUrl: string
  log: Logger
  /** For this long, streams keep what was applied before the erasure. Default: 0. */
  streamKeepMs?: number
}

interface Schedule {
  /** Milliseconds after which an erasure can be cleaned: statements that could still see its rows have ended. */
  settledMs: number
  /** Milliseconds from the start of one run to the start of the next. */
  restMs: number
}

const DAILY: Schedule = { settledMs: 600_000, restMs: 23 * 3_600_000 }
const LOOK_MS = 60_000
/** Delay after a run that failed, or whose process died. */
const RETRY_MS = 3_600_000

/**
 * Checks once a minute whether a run is due, until `signal` aborts. Any number of processes may call this: only one of
 * them cleans.
 */
export async function keepFilesClean(deps: CleaningDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await cleanFiles(deps, signal).catch((error: unknown) => {
      if (!signal.aborted)
        deps.log.warn({ err: error }, 'files were not cleaned after an erasure; trying again in an hour')
    })
    await sleep(LOOK_MS, signal)
  }
}

/** Cleans when a run is due, and then resolves with true. Rejects on an error; the run can be repeated. */
export async function cleanFiles(deps: CleaningDeps, signal: AbortSignal, schedule = DAILY): Promise<boolean> {
  const { sql, log } = deps
  const settledMs = schedule.settledMs + (deps.streamKeepMs ?? 0)
  const until = await claimRun(sql, { ...schedule, settledMs })
  if (until === undefined) return false
  await vacuum(deps.databaseUrl)
  await rewriteLog(deps, signal)
  if (signal.aborted) return false
  await sql`update file_cleaning set cleaned_until = ${until}`
  log.info({ until }, 'files cleaned after erasures')
  return true
}

/**
 * Resolves with the instant up to which erasures will be cleaned; undefined when there are none, or when another
 * process cleans them.
 */
async function claimRun(sql: Sql, { settledMs, restMs }: Schedule): Promise<string | undefined> {
  const [claimed] = await sql<{ until: string }[]>`
    update file_cleaning f set started_at = now()
    where f.started_at < now() - ${RETRY_MS} * interval '1 millisecond'
      and f.cleaned_until < now() - ${restMs + settledMs} * interval '1 millisecond'
      and exists (
        select from erasures e
        where e.deleted_at >= f.cleaned_until and e.deleted_at < now() - ${settledMs} * interval '1 millisecond'
      )
    returning (now() - ${settledMs} * interval '1 millisecond')::text as until`
  return claimed?.until
}

/** Runs without a time limit, at the pace of autovacuum, and blocks no other statement. */
async function vacuum(databaseUrl: string): Promise<void> {
  const sql = connectPostgres(databaseUrl, {
    max: 1,
    name: 'sluice-vacuum',
    settings: { statement_timeout: '0', vacuum_cost_delay: '2ms' },
  })
  try {
    // Index entries contain identities, so they are cleaned even if there are only a few.
    await sql.unsafe(`vacuum (analyze, index_cleanup on) ${CLEANED_TABLES.join(', ')}`)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const POLL_MS = 200
const REWRITE_MS = 600_000

/** Has Redis rewrite its append-only file from its current data, and resolves when that is done. */
async function rewriteLog({ redisUrl, log }: CleaningDeps, signal: AbortSignal): Promise<void> {
  const redis = connectRedis(redisUrl, 'command')
  try {
    await whenReady(redis)
    if ((await readInfo(redis, 'aof_enabled')) === '0') return
    // A rewrite in progress is enough: the erased data left Redis minutes ago.
    await redis.bgrewriteaof().catch((error: unknown) => {
      log.warn({ err: error }, 'Redis did not start rewriting its append-only file')
    })
    for (const deadline = performance.now() + REWRITE_MS; !signal.aborted; await sleep(POLL_MS, signal)) {
      const isBusy = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled']
      const states = await Promise.all(isBusy.map((field) => readInfo(redis, field)))
      if (states.every((state) => state !== '1')) break
      if (performance.now() > deadline) throw new Error('Redis did not finish writing its append-only file anew.')
    }
    if ((await readInfo(redis, 'aof_last_bgrewrite_status')) !== 'ok')
      throw new Error('Redis could not write its append-only file anew: see its log.')
  } finally {
    redis.disconnect()
  }
}

async function readInfo(redis: Redis, field: string): Promise<string | undefined> {
  return new RegExp(`^${field}:(\\S+)`, 'm').exec(await redis.info('persistence'))?.[1]
}
