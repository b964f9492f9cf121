/** The commands: `start`, `serve`, `workers`, `migrate`, `admin`. Each loads its own part alone. */
import { parseArgs } from 'node:util'
import { ConfigError, type Config, readConfig, resolveStores } from './config.ts'
import { onShutdownSignal } from './process/shutdown-signals.ts'
import { suggestEnvVar } from './process/suggest-env-var.ts'
import { VERSION } from './version.ts'

interface Command {
  summary: string
  help: string
  /** Resolves to the exit code. */
  run(config: Config, argv: string[]): Promise<number>
}

/** What was typed makes no sense; exit code 2. */
class UsageError extends Error {
  override name = 'UsageError'
}

const COMMANDS: Record<string, Command> = {
  start: {
    summary: 'Run everything on this machine, databases included',
    help: `Brings its own Redis, Postgres and ClickHouse below DATA_DIR (.sluice); DATABASE_URL, REDIS_URL or CLICKHOUSE_URL replaces
one. The first start makes a business "Demo" and shows its keys. Ctrl-C drains and stops it all.

Settings come from the environment, as in \`PORT=9000 npm start\`. The most used (the README lists them all; docs/operations.md
explains how to run it):

  PORT, HOST         Where the front door listens (8080, 0.0.0.0)
  DATA_DIR           Where data, logs and keys are (.sluice)
  DATABASE_URL, REDIS_URL, CLICKHOUSE_URL
                     Your own Postgres, Redis, ClickHouse
  WORKER_THREADS     Threads for live events, and as many for the rest (1)`,
    run: async (config, argv) => {
      refuseWords('start', argv)
      const { supervise } = await import('./embedded/supervise.ts')
      const stopping = new AbortController()
      onShutdownSignal(() => stopping.abort(), 1)
      await supervise(config, stopping.signal)
      return 0
    },
  },
  serve: {
    summary: 'Run a front door: the HTTP API',
    help: 'Listens on PORT (8080) and HOST (0.0.0.0). Run as many as you like. SIGTERM drains it.',
    run: async (config, argv) => {
      refuseWords('serve', argv)
      const { runFrontDoor } = await import('./front-door/run-front-door.ts')
      return await createStopSignal(await runFrontDoor(config))
    },
  },
  workers: {
    summary: 'Run the workers: they apply what came in, and send it on to ClickHouse',
    help: `Each process has WORKER_THREADS (1) threads for live events, as many for batches and web events, one for the timeline and one for
deliveries. Run as many processes as you like. SIGTERM drains them.`,
    run: async (config, argv) => {
      refuseWords('workers', argv)
      const { runWorkers } = await import('../workers/main.ts')
      return await createStopSignal(await runWorkers(config))
    },
  },
  migrate: {
    summary: 'Bring Postgres and ClickHouse to the shape that this version expects',
    help: 'Safe to repeat, and to run twice at once. `start` does it by itself.',
    run: async (config, argv) => {
      refuseWords('migrate', argv)
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

\`COMMAND --help\` says more, \`--version\` which version this is. Settings come from the environment: see the README.`

async function main(argv: string[]): Promise<number> {
  const [word, ...rest] = argv
  if (word === '--help' || word === '-h') return say(USAGE)
  if (word === '--version' || rest[0] === '--version') return say(`sluice ${VERSION}`)
  if (word === undefined) throw new UsageError(`A command is missing.\n\n${USAGE}`)
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (!command) throw new UsageError(`There is no command "${word}".\n\n${USAGE}`)
  const wantsHelp = rest.includes('--help') || rest.includes('-h')
  if (wantsHelp && command.help) return say(`sluice ${word}: ${command.summary}\n\n${command.help}`)
  return await command.run(readConfig(), rest)
}

function refuseWords(name: string, argv: string[]): void {
  try {
    parseArgs({ args: argv, options: {}, allowPositionals: false })
  } catch (error) {
    // What follows the first sentence is about how to pass the option as a positional.
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
    { createLogger },
  ] = await Promise.all([
    import('./migrate/migrate.ts'),
    import('./migrate/grant-analyst.ts'),
    import('./stores/postgres.ts'),
    import('./stores/clickhouse.ts'),
    import('./stores/require-stores.ts'),
    import('./log.ts'),
  ])
  const { databaseUrl, clickhouseUrl } = await resolveStores(config)
  await requireStores(config, { databaseUrl, clickhouseUrl })
  const sql = connectPostgres(databaseUrl, { max: 1, name: 'sluice-migrate' })
  const clickhouse = connectClickHouse(clickhouseUrl)
  try {
    const log = createLogger({ level: config.logLevel, name: 'migrate' })
    const count = await migrate(sql, clickhouse, log, config.streamPartitions)
    if (config.analystPassword && config.clickhouseUrl) await grantAnalyst(clickhouse, log, config.analystPassword)
    return say(count === 0 ? 'Nothing to do' : `${count} applied`)
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), clickhouse.close()])
  }
}

/** The first signal asks; a later one does not wait any longer. */
async function createStopSignal(running: { close(): Promise<void> }): Promise<number> {
  await new Promise<void>((resolve) => onShutdownSignal(resolve, 1))
  await running.close()
  return 0
}

/** A driver's error carries the statement or the command that failed, keys and people in it: nothing but its words is told. */
function dieOf(error: unknown): never {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : 'something that is no error was thrown'}\n`,
  )
  process.exit(1)
}

function say(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

process.on('uncaughtException', dieOf).on('unhandledRejection', dieOf)
// A terminal or a pipe that is gone is no reason to end half-way.
process.stdout.on('error', () => undefined)
try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1
}
// Whatever still hangs on to the event loop has had its chance to close.
process.exit()
