/** `admin verify`: do Postgres and ClickHouse say the same? On a live system, once or again and again. */
import { type Config, resolveStores } from '../../config.ts'
import { createLogger } from '../../log.ts'
import { pendingMigrations } from '../../migrate/migrate.ts'
import { connectClickHouse } from '../../stores/clickhouse.ts'
import { connectPostgres, type Sql } from '../../stores/postgres.ts'
import { connectRedis } from '../../stores/redis.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import { isBusinessNotFound, requireBusiness } from '../business.ts'
import { checkId } from '../read-option.ts'
import { type Command, CommandError, type Report, type CommandArguments } from '../command.ts'
import { createStopSignal } from '../stop-signal.ts'
import { sizeOfSlice } from './compare-business.ts'
import { countContacts } from './list-businesses.ts'
import { readEvery } from './read-every.ts'
import { repeatRounds } from './repeat-rounds.ts'
import { agrees, toJson, toText } from './report.ts'
import { showProgress } from './show-progress.ts'
import { type Verdict, verify, type VerifyDeps } from './verify.ts'

const NOTES = `Compared, contact by contact: events, first, last and count of each name, revenue by currency, orders,
  snapshots, merges; visitors, their links and touches; erasures leave nothing; views add up; Postgres keeps its own rules; streams and positions fit.
  It may run at any time: what is not shipped yet is no difference, and one must be seen three times to count.
Repair corrects Postgres where two other records outvote it. It asks the shipper to send what ClickHouse lacks and the outbox
  still has (OUTBOX_KEEP), to rebuild snapshots, statistics and visitors, and to repeat erasures. It may be stopped and repeated.
  What is older than the outbox is listed, and so is what ClickHouse has beyond Postgres: only erased or doubled rows are deleted.
After Postgres was restored from a backup, run admin recover first. Repair leaves alone what it would save.
Exit code: 0 they agree, 1 they differ, or there is no such business, 2 mistyped, 3 they could not be compared, or
  nothing differs but the shipper leaves contacts waiting, or a business is too large or too busy for a part of it.`

const verifyStores: Command = {
  name: 'verify',
  summary: 'Compare Postgres with ClickHouse; with --repair, correct what differs',
  options: {
    repair: { help: 'Correct what differs, in Postgres or ClickHouse, as far as it can be known' },
    business: { value: 'ID', help: 'Check this business alone' },
    every: { value: '10m', help: 'Repeat until stopped, with this pause; print what changes' },
  },
  notes: NOTES,
  run: (config, args) => {
    readEvery(args.text('every') ?? '1m')
    return withStores(config, args, (deps) => run(deps, args))
  },
}
export const VERIFY_COMMANDS: Command[] = [verifyStores]

type Set = 'advance' | 'say' | 'sliceSize' | 'mostKept' | 'startedAt'
export interface Deps extends Omit<VerifyDeps, Set> {
  businessId: string | undefined
}

const MOST_KEPT = 5000

const CODES = { agree: 0, differ: 1, notCompared: 3 }

async function run(deps: Deps, args: CommandArguments): Promise<Report> {
  const every = args.text('every')
  const round = () => runRound(deps, args.flag('repair'))
  return every === undefined
    ? await round()
    : await repeatRounds(round, readEvery(every), deps.signal, args.flag('json'))
}

/** What keeps the stores from being compared is a report too: the next round may find them well. */
async function runRound(deps: Deps, repair: boolean): Promise<Report> {
  const started = performance.now()
  try {
    const verdict = await compare(deps, repair)
    deps.signal.throwIfAborted()
    const seconds = (performance.now() - started) / 1000
    const agree = agrees(verdict)
    const exitCode = agree === null ? CODES.notCompared : agree ? CODES.agree : CODES.differ
    return { json: toJson(verdict, seconds), text: toText(verdict, seconds), exitCode }
  } catch (error) {
    if (isBusinessNotFound(error)) throw error
    const code = error instanceof CommandError ? error.code : 'not_compared'
    const message = deps.signal.aborted ? 'stopped before the end' : messageOf(error)
    return {
      json: { agree: null, error: { code, message } },
      text: `The stores could not be compared: ${message}`,
      exitCode: CODES.notCompared,
    }
  }
}

async function compare(deps: Deps, repair: boolean): Promise<Verdict> {
  const { sql, businessId } = deps
  await requireMigrated(sql)
  if (businessId) await requireBusiness(sql, businessId)
  const contacts = await countContacts(sql, businessId)
  const progress = showProgress(process.stderr, contacts)
  try {
    return await verify(
      { ...deps, ...progress, sliceSize: sizeOfSlice(contacts), mostKept: MOST_KEPT, startedAt: await readClock(sql) },
      { repair, ...(businessId && { businessIds: [businessId] }) },
    )
  } finally {
    progress.end()
  }
}

export async function readClock(sql: Sql): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select now() as now`
  return row.now
}

/** Without what a message of ClickHouse quotes. A connection refused at several addresses has a code and no message. */
const messageOf = (error: unknown): string => describeFault(error) || String((error as { code?: unknown }).code)

/** Reading connections cannot write, keep to themselves, and are cut when they take long. */
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
  work: (deps: Deps) => Promise<Report>,
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
    throw new CommandError('not_migrated', `Run \`migrate\` first: ${pending.join(', ')} not applied`)
}
