/** `admin verify`: compares Postgres with ClickHouse on a live system, once or repeatedly. */
import { commandActor } from '../../audit/command-actor.ts'
import type { Config } from '../../config.ts'
import { resolveStores } from '../../stores/data-dir.ts'
import { createLogger } from '../../log.ts'
import { pendingMigrations } from '../../migrate/migrate.ts'
import { connectClickHouse } from '../../stores/clickhouse.ts'
import { connectPostgres, type Sql } from '../../stores/postgres.ts'
import { connectRedis } from '../../stores/redis.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import { beginRepair } from '../../timeline/resync/begin-repair.ts'
import { isBusinessNotFound, requireBusiness } from '../business.ts'
import { checkId } from '../read-option.ts'
import { type Command, CommandError, type Report, type CommandArguments } from '../command.ts'
import { createStopSignal } from '../stop-signal.ts'
import { sizeOfSlice } from './compare-slices.ts'
import { printProgress } from './print-progress.ts'
import { readPause, repeatRounds } from './repeat-rounds.ts'
import { agrees, toJson, toText } from './report.ts'
import { type RoundProgress, showProgress } from './show-progress.ts'
import { type VerifyResult, verify, type VerifyDeps } from './verify.ts'

const NOTES = `It compares, contact by contact: first time, last time and count of each event, idempotency keys, revenue by currency,
  orders, snapshots and merges. It also checks visitors with their links and touches; that erasures left nothing; that views add
  up; that Postgres keeps its own rules; that the members of each segment are those whose facts match its rule; and that
  streams and positions fit. Segments with withinDays, where or sum are left out. You can run it at any time: data that is
  not shipped yet is not a difference, and a difference counts after it was seen several times.
--repair corrects Postgres where two other records agree against it, and the members and sizes of segments. It asks the shipper
  to send events that ClickHouse lacks and the outbox still has (OUTBOX_KEEP), to rewrite snapshots, statistics and visitors, and
  to repeat erasures. You can stop it and run it again. It only lists events that are older than the outbox, and data that only
  ClickHouse has. It deletes only erased and doubled rows, and wrong members of segments.
After you restored Postgres from a backup, run admin recover first. --repair does not touch what admin recover saves.
Exit code: 0 the stores agree; 1 they differ, or the business does not exist; 2 mistyped; 3 they could not be compared, or
  nothing differs, but contacts wait for the shipper or the segment worker all the time, or a business is too large or too busy
  for a part of it.`

const verifyStores: Command = {
  name: 'verify',
  summary: 'Compare Postgres with ClickHouse; with --repair, correct what differs',
  options: {
    repair: { help: 'Correct the store that is wrong, where that is known' },
    business: { value: 'ID', help: 'Check only this business' },
    every: { value: '10m', help: 'Repeat until stopped, with this pause; print only changes' },
    wait: { value: '2m', help: 'How long to wait each time for a ClickHouse that does not answer (2m)' },
    progress: { help: 'Also print the progress, as lines of JSON, one a second at most' },
  },
  notes: NOTES,
  run: (config, args) => {
    readPause(args.text('every') ?? '1m')
    readWait(args)
    return withStores(config, args, (deps) => run(deps, args))
  },
}
export const VERIFY_COMMANDS: Command[] = [verifyStores]

/** Dependencies that each round sets itself. */
type RoundDeps = 'advance' | 'showStatus' | 'sliceSize' | 'maxKept' | 'startedAt'
export interface SessionDeps extends Omit<VerifyDeps, RoundDeps | 'waitMs'> {
  businessId: string | undefined
}

interface CommandDeps extends SessionDeps {
  waitMs: number
  openProgress(contacts: number): RoundProgress
}

const MAX_KEPT = 5000

const readWait = (args: CommandArguments): number => readPause(args.text('wait') ?? '2m', '--wait')

const CODES = { agree: 0, differ: 1, notCompared: 3 }

async function run(deps: SessionDeps, args: CommandArguments): Promise<Report> {
  const every = args.text('every')
  const openProgress = args.flag('progress')
    ? (contacts: number) => printProgress(process.stdout, contacts)
    : (contacts: number) => showProgress(process.stderr, contacts)
  const round = () => runRound({ ...deps, openProgress, waitMs: readWait(args) }, args.flag('repair'))
  return every === undefined
    ? await round()
    : await repeatRounds(round, readPause(every), deps.signal, args.flag('json'))
}

/** Reports an error instead of throwing it, because the next round may succeed. */
async function runRound(deps: CommandDeps, repair: boolean): Promise<Report> {
  const started = performance.now()
  try {
    const result = await compare(deps, repair)
    deps.signal.throwIfAborted()
    const seconds = (performance.now() - started) / 1000
    const agree = agrees(result)
    const exitCode = agree === null ? CODES.notCompared : agree ? CODES.agree : CODES.differ
    return { json: toJson(result, seconds), text: toText(result, seconds), exitCode }
  } catch (error) {
    if (isBusinessNotFound(error)) throw error
    const code = error instanceof CommandError ? error.code : 'not_compared'
    const message = deps.signal.aborted ? 'the command was stopped' : messageOf(error)
    return {
      json: { agree: null, error: { code, message } },
      text: `The stores could not be compared: ${message}`,
      exitCode: CODES.notCompared,
    }
  }
}

async function compare(deps: CommandDeps, repair: boolean): Promise<VerifyResult> {
  const { sql, businessId } = deps
  await requireMigrated(sql)
  if (businessId) await requireBusiness(sql, businessId)
  if (repair) await beginRepair(deps.writer, commandActor('admin verify --repair'), businessId ?? null)
  const contacts = await countContacts(sql, businessId)
  const progress = deps.openProgress(contacts)
  try {
    return await verify(
      { ...deps, ...progress, sliceSize: sizeOfSlice(contacts), maxKept: MAX_KEPT, startedAt: await readClock(sql) },
      { repair, ...(businessId && { businessIds: [businessId] }) },
    )
  } finally {
    progress.end()
  }
}

export async function countContacts(sql: Sql, businessId: string | undefined): Promise<number> {
  const [row] = await sql<{ contacts: number }[]>`
    select count(*)::int as contacts from contacts ${businessId ? sql`where business_id = ${businessId}` : sql``}`
  return row?.contacts ?? 0
}

export async function readClock(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select now() as now`
  return row.now
}

/**
 * Omits data that ClickHouse quotes in messages. A connection that was refused at several addresses has a code, but no
 * message.
 */
const messageOf = (error: unknown): string => describeFault(error) || String((error as { code?: unknown }).code)

/** Settings of connections for reading: they cannot write, and use little memory and one process each. */
const READING = {
  default_transaction_read_only: 'on',
  plan_cache_mode: 'force_custom_plan',
  work_mem: '32MB',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
}

export async function withStores(
  config: Config,
  args: CommandArguments,
  work: (deps: SessionDeps) => Promise<Report>,
): Promise<Report> {
  const business = args.text('business')
  const businessId = business === undefined ? undefined : checkId('--business', business)
  const { databaseUrl, redisUrl, clickhouseUrl } = await resolveStores(config)
  const log = createLogger({ level: config.logLevel === 'info' ? 'error' : config.logLevel, name: 'verify', to: 2 })
  const sql = connectPostgres(databaseUrl, { max: 1, name: 'sluice-verify', settings: READING })
  const writer = connectPostgres(databaseUrl, { max: 2, name: 'sluice-verify' })
  const clickhouse = connectClickHouse(clickhouseUrl)
  const redis = connectRedis(redisUrl, 'command', log)
  const stop = createStopSignal()
  try {
    return await work({ sql, writer, clickhouse, redis, log, config, signal: stop.signal, businessId })
  } finally {
    stop.end()
    redis.disconnect()
    await Promise.all([sql.end({ timeout: 1 }), writer.end({ timeout: 1 }), clickhouse.close()])
  }
}

export async function requireMigrated(sql: Sql): Promise<void> {
  const pending = await pendingMigrations(sql)
  if (pending.length > 0)
    throw new CommandError('not_migrated', `Run \`migrate\` first. Not applied: ${pending.join(', ')}`)
}
