/** The commands: `start`, `serve`, `workers`, `migrate`, `admin`. Each loads only its own modules. */
import { parseArgs } from 'node:util'
import { ConfigError, type Config, readConfig } from './config.ts'
import { optionOf } from './process/option-of.ts'
import { resolveStores, withSecretsKey } from './stores/data-dir.ts'
import { onShutdownSignal } from './process/shutdown-signals.ts'
import { nearestWord } from './process/nearest-word.ts'
import { suggestEnvVar } from './process/suggest-env-var.ts'
import { VERSION } from './version.ts'

interface Command {
  summary: string
  help: string
  /** Resolves to the exit code. */
  run(config: Config, argv: string[]): Promise<number>
}

/** The command line is invalid; exit code 2. */
class UsageError extends Error {
  override name = 'UsageError'
}

const COMMANDS: Record<string, Command> = {
  start: {
    summary: 'Run everything on this machine, databases included',
    help: `Runs its own Redis, Postgres and ClickHouse in DATA_DIR (.sluice). Set DATABASE_URL, REDIS_URL or CLICKHOUSE_URL to use your
own instead. The first start creates a business "Demo" and shows its keys. Ctrl-C stops everything after running requests end.

Settings come from the environment, as in \`PORT=9000 npm start\`. These are the most common ones (the README lists all;
docs/operations.md explains how to run Sluice):

  PORT, HOST         The address of the front door (8080, 0.0.0.0)
  DATA_DIR           Directory of data, logs and keys (.sluice)
  DATABASE_URL, REDIS_URL, CLICKHOUSE_URL
                     Your own Postgres, Redis, ClickHouse
  WORKER_THREADS     Threads for live events, and the same number for the rest (1)`,
    run: async (config, argv) => {
      rejectArguments('start', argv)
      const { supervise } = await import('./embedded/supervise.ts')
      const stopping = new AbortController()
      onShutdownSignal(() => stopping.abort(), 1)
      await supervise(config, stopping.signal)
      return 0
    },
  },
  serve: {
    summary: 'Run a front door: the HTTP API',
    help: 'Listens on PORT (8080) and HOST (0.0.0.0). You can run any number. On SIGTERM it\nsays for DRAIN_MS (5000) that it is about to stop, answers the running requests, then stops.',
    run: async (config, argv) => {
      rejectArguments('serve', argv)
      const { runFrontDoor } = await import('./front-door/run-front-door.ts')
      return await closeOnSignal(await runFrontDoor(config))
    },
  },
  workers: {
    summary: 'Run the workers: they apply events, and send them to ClickHouse',
    help: `Each process has WORKER_THREADS (1) threads for live events, the same number for batches and web events, one
for the timeline and one for deliveries. You can run any number of processes. On SIGTERM they finish their work, then stop.`,
    run: async (config, argv) => {
      rejectArguments('workers', argv)
      const { runWorkers } = await import('../workers/main.ts')
      return await closeOnSignal(await runWorkers(config))
    },
  },
  migrate: {
    summary: 'Migrate the schemas of Postgres and ClickHouse to this version',
    help: 'Safe to repeat and to run concurrently. `start` does it automatically.',
    run: async (config, argv) => {
      rejectArguments('migrate', argv)
      return await migrateStores(config)
    },
  },
  admin: {
    summary: 'Businesses, keys, dead letters, imports: `admin --help`',
    help: '',
    run: async (config, argv) => {
      const { runAdmin } = await import('./admin/main.ts')
      return await runAdmin(argv, config)
    },
  },
}

const USAGE = `Usage: sluice COMMAND

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(9)}${summary}`)
  .join('\n')}

Run \`COMMAND --help\` for details, \`--version\` for the version. Settings come from the environment: see the README.`

async function main(argv: string[]): Promise<number> {
  const [word, ...rest] = argv
  if (word === '--help' || word === '-h') return printLine(USAGE)
  if (word === '--version' || rest[0] === '--version') return printLine(`sluice ${VERSION}`)
  if (word === undefined) throw new UsageError(`A command is missing.\n\n${USAGE}`)
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (!command) throw new UsageError(describeUnknown(word))
  const wantsHelp = rest.includes('--help') || rest.includes('-h')
  if (wantsHelp && command.help) return printLine(`sluice ${word}: ${command.summary}\n\n${command.help}`)
  return await command.run(await withSecretsKey(readConfig()), rest)
}

function describeUnknown(word: string): string {
  const meant = nearestWord(word, Object.keys(COMMANDS))
  return `There is no command "${optionOf(word)}".${meant === undefined ? '' : ` Did you mean "${meant}"?`} To see all: sluice --help`
}

function rejectArguments(name: string, argv: string[]): void {
  try {
    parseArgs({ args: argv, options: {}, allowPositionals: false })
  } catch (error) {
    // The rest of the message explains how to pass the option as a positional argument, which does not apply here.
    const reason = (error as Error).message.split('. To specify')[0] ?? ''
    const setting = suggestEnvVar(argv)
    const remedy = setting ? `\nSettings come from the environment: ${setting} npm run ${name}` : ''
    throw new UsageError(`${reason}${remedy}\nSee: ${name} --help`, { cause: error })
  }
}

async function migrateStores(config: Config): Promise<number> {
  const [
    { migrate },
    { grantAnalyst },
    { connectPostgres },
    { connectClickHouse },
    { requireStores },
    { requireRedisServer },
    { createLogger },
  ] = await Promise.all([
    import('./migrate/migrate.ts'),
    import('./migrate/grant-analyst.ts'),
    import('./stores/postgres.ts'),
    import('./stores/clickhouse.ts'),
    import('./stores/require-stores.ts'),
    import('./stores/redis-durability.ts'),
    import('./log.ts'),
  ])
  const { databaseUrl, clickhouseUrl } = await resolveStores(config)
  await requireStores(config, { databaseUrl, clickhouseUrl })
  if (config.redisUrl) await requireRedisServer(config, config.redisUrl)
  const sql = connectPostgres(databaseUrl, { max: 1, name: 'sluice-migrate' })
  const clickhouse = connectClickHouse(clickhouseUrl)
  try {
    const log = createLogger({ level: config.logLevel, name: 'migrate' })
    const count = await migrate(sql, clickhouse, log, config.streamPartitions)
    if (config.analystPassword && config.clickhouseUrl) await grantAnalyst(clickhouse, log, config.analystPassword)
    return printLine(count === 0 ? 'Nothing to do' : `${count} applied`)
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), clickhouse.close()])
  }
}

/** The first signal closes gracefully; a second one exits at once. */
async function closeOnSignal(running: { close(): Promise<void> }): Promise<number> {
  await new Promise<void>((resolve) => onShutdownSignal(resolve, 1))
  await running.close()
  return 0
}

/**
 * Prints only the stack, because a driver's error has the failed statement in its properties, with keys and personal
 * data.
 */
function exitWithError(error: unknown): never {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : 'a value that is not an Error was thrown'}\n`,
  )
  process.exit(1)
}

function printLine(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

process.on('uncaughtException', exitWithError).on('unhandledRejection', exitWithError)
// A closed terminal or pipe must not interrupt a command.
process.stdout.on('error', () => undefined)
try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1
}
// Does not wait for open handles.
process.exit()
