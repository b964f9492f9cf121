/**
 * `start`: runs the whole product on one machine. The supervisor starts the engines, migrates, runs the front door and
 * the workers as separate processes, restarts processes that die, and stops everything in order.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureOperator } from '../accounts/first-operator.ts'
import { linkUrl } from '../accounts/system-mail.ts'
import type { Config } from '../config.ts'
import { resolveStores, secretsKeyFile, type StoreUrls } from '../stores/data-dir.ts'
import { createLogger, type Logger } from '../log.ts'
import { grantAnalyst } from '../migrate/grant-analyst.ts'
import { migrate, pendingMigrations } from '../migrate/migrate.ts'
import { connectClickHouse } from '../stores/clickhouse.ts'
import { connectPostgres } from '../stores/postgres.ts'
import { hostOf, requireStores } from '../stores/require-stores.ts'
import { explainPortError } from '../process/explain-port-error.ts'
import { raceAbort } from '../async/race-abort.ts'
import { runtimeEnv } from './processes/runtime-env.ts'
import { type DemoKeys, ensureDemo } from './demo-business.ts'
import { type EngineCommand, environmentWithout } from './processes/engine-command.ts'
import { type RunningEngine, ensureSecret, writeWhole } from './engine-setup.ts'
import { type Engines, startEngines } from './engines.ts'
import { explainUnready } from './explain-unready.ts'
import { keepRunning } from './processes/keep-running.ts'
import { freePort, runEngine, runtimeCommand, untilReady } from './processes/run-engine.ts'
import { stopLeftover } from './processes/stop-leftover.ts'
import { printFailure, printGoodbye, printGreeting, printStep } from './console-output.ts'
import { type Explain, printSteps, type Step } from './start-steps.ts'

const READY_MS = 60_000
/** Time for a service to finish its work, after it has drained. */
const STOP_MS = 30_000

interface Service {
  command: EngineCommand
  url: string
}

/**
 * Runs until `signal` aborts (even during the start), then stops the front door, the workers and the engines, in this
 * order. Throws when a process cannot start.
 */
export async function supervise(config: Config, signal: AbortSignal): Promise<void> {
  const log = createLogger({ level: 'warn', name: 'start', to: 2 })
  const step = printSteps(printStep, signal)
  const down: (() => Promise<void>)[] = []
  signal.addEventListener('abort', printGoodbye)
  try {
    const services = await planServices(config)
    const ready = async () => {
      // A leftover front door would still occupy the port.
      await step('Stopping what an earlier start has left', () =>
        Promise.all(services.map((service) => stopLeftover(service.command, signal))),
      )
      await requireFreePort(config.host, config.port)
      const { databaseUrl, redisUrl, clickhouseUrl } = config
      await step('Waiting for your own stores to answer', () =>
        requireStores(config, { databaseUrl, redisUrl, clickhouseUrl }, signal),
      )
    }
    const only = missingUrls(config)
    const { url } = services[0]
    const later = 'clickhouseUrl'
    const engines = await startEngines(config.dataDir, { log, step, only, later, frontDoorUrl: url, ready, signal })
    down.unshift(() => engines.stop())
    const prepared = engines.complete.then(() => prepareStores(config, log, step))
    prepared.catch(() => undefined) // It is awaited later.
    // If Postgres is migrated, the front door accepts events before ClickHouse has started.
    if (!(await isMigrated(config))) await raceAbort(prepared, signal)
    await startServices(services, { config, step, down, signal })
    const { demo, token } = await raceAbort(prepared, signal)
    await step('Waiting until everything works', (explain) => untilOk(`${url}/readyz`, config, signal, explain))
    const link = token === undefined ? undefined : linkUrl(config.publicUrl ?? url, token)
    printGreeting({ url, config, engines: describeEngines(config, engines), demo, link })
    await untilAborted(signal)
  } catch (error) {
    // An aborted start may fail; that is expected.
    if (!signal.aborted) throw error
  } finally {
    for (const stop of down) await stop()
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

const missingUrls = (config: Config): (keyof StoreUrls)[] =>
  (['databaseUrl', 'redisUrl', 'clickhouseUrl'] as const).filter((key) => !config[key])

interface Prepared {
  demo: DemoKeys | undefined
  /** Token of the operator's first link. */
  token: string | undefined
}

async function prepareStores(config: Config, log: Logger, step: Step): Promise<Prepared> {
  const stores = await resolveStores(config)
  const sql = connectPostgres(stores.databaseUrl, { max: 1, name: 'sluice-start' })
  const clickhouse = connectClickHouse(stores.clickhouseUrl)
  try {
    await step('Migrating Postgres and ClickHouse', () => migrate(sql, clickhouse, log, config.streamPartitions))
    if (config.analystPassword && config.clickhouseUrl) await grantAnalyst(clickhouse, log, config.analystPassword)
    const demo = await ensureDemo(sql, config.dataDir)
    return { demo, token: await ensureOperator(sql, demo?.businessId) }
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), clickhouse.close()])
  }
}

/** Returns false also when Postgres has no tables yet, or does not answer: the migration then reports the error. */
async function isMigrated(config: Config): Promise<boolean> {
  const { databaseUrl } = await resolveStores(config)
  const sql = connectPostgres(databaseUrl, { max: 1, name: 'sluice-start' })
  try {
    return (await pendingMigrations(sql)).length === 0
  } catch {
    return false
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Returns the front door and the workers, in the order in which they stop. */
async function planServices(config: Config): Promise<[frontDoor: Service, workers: Service]> {
  const port = String(config.port || (await freePort()))
  const healthPort = String(config.workerMetricsPort || (await freePort()))
  const url = `http://${reachableHost(config.host)}:${port}`
  // Both services get both ports, so that neither sends outbound requests to its own installation.
  const ports = { PORT: port, WORKERS_PORT: healthPort }
  return [
    { url, command: planCommand(config, 'front-door', 'serve', ports) },
    {
      url: `http://127.0.0.1:${healthPort}`,
      command: planCommand(config, 'workers', 'workers', { HOST: '127.0.0.1', ...ports }),
    },
  ]
}

/** A secret that the services do not need. It is removed from their environment. */
const UNNEEDED_SECRET = 'SLUICE_API_KEY'
const SECRETS_KEY_BYTES = 32

function planCommand(
  { dataDir }: Config,
  name: string,
  word: 'serve' | 'workers',
  settings: Record<string, string>,
): EngineCommand {
  return {
    name,
    dataDir,
    folder: dataDir,
    command: runtimeCommand(new URL('../cli.ts', import.meta.url), [word]),
    environment: { ...environmentWithout(UNNEEDED_SECRET), ...runtimeEnv(), ...settings, DATA_DIR: dataDir },
    signal: 'TERM',
    // A leftover cannot finish its work, because its stores are stopped, too.
    patienceMs: 0,
  }
}

interface StartDeps {
  config: Config
  step: Step
  down: (() => Promise<void>)[]
  signal: AbortSignal
}

/** Resolves when both services answer. Adds every service that has started to `down`, even if the other one fails. */
async function startServices(services: Service[], { config, step, down, signal }: StartDeps): Promise<void> {
  const environment = {
    WORKER_NAME: await ensureWorkerName(config.dataDir),
    SECRETS_KEY: config.secretsKey ?? (await ensureSecret(secretsKeyFile(config.dataDir), SECRETS_KEY_BYTES)),
    DRAIN_MS: String(config.drainMs ?? 0),
    ALLOW_LOOPBACK_TARGETS: String(config.allowLoopbackTargets ?? 'alone'),
  }
  const starts = services.map((service) =>
    keepRunning({
      name: service.command.name,
      log: printFailure(service.command.name, config),
      start: (signal) =>
        step(`Starting the ${service.command.name.replace('-', ' ')}`, () =>
          startService(withEnvironment(service, environment), config, signal),
        ),
      signal,
    }),
  )
  const settled = await Promise.allSettled(starts)
  down.unshift(...settled.flatMap((one) => (one.status === 'fulfilled' ? [() => one.value.stop()] : [])))
  for (const one of settled) if (one.status === 'rejected') throw one.reason as Error
}

/** Throws at once when the port is in use. Otherwise the front door would be restarted again and again. */
async function requireFreePort(host: string, port: number): Promise<void> {
  const probe = createServer()
  try {
    await once(probe.listen(port, host), 'listening')
  } catch (error) {
    throw explainPortError(error, host, port)
  } finally {
    probe.close()
  }
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

const withEnvironment = ({ url, command }: Service, environment: Record<string, string>): Service => ({
  url,
  command: { ...command, environment: { ...command.environment, ...environment } },
})

/**
 * The workers of one DATA_DIR keep their name over restarts, so that they get their partitions back without waiting.
 */
async function ensureWorkerName(dataDir: string): Promise<string> {
  const file = join(dataDir, 'worker-name')
  const known = await readFile(file, 'utf8').catch(() => '')
  if (known) return known
  const name = `${hostname()}-${randomUUID().slice(0, 8)}`
  await writeWhole(file, name)
  return name
}

async function startService({ command, url }: Service, config: Config, signal: AbortSignal): Promise<RunningEngine> {
  const running = await runEngine(command, signal)
  await untilReady(command, running, untilOk(`${url}/healthz`, config, signal), signal)
  return { ...running, url, stop: () => running.stop(STOP_MS + (config.drainMs ?? 0)) }
}

async function untilOk(url: string, { dataDir }: Config, signal: AbortSignal, explain?: Explain): Promise<void> {
  const deadline = Date.now() + READY_MS
  let lastBody = 'no answer'
  while (Date.now() < deadline) {
    const response = await fetch(url, { signal }).catch(() => undefined)
    if (response?.ok) return
    lastBody = (await response?.text()) ?? lastBody
    explain?.(explainUnready(lastBody)[0] ?? '')
    await sleep(50, undefined, { signal })
  }
  const reasons = explainUnready(lastBody).map((reason) => `\n  ${reason}`)
  throw new Error(`${url} is not ready after ${READY_MS / 1000} s (logs: ${dataDir}/*.log):${reasons.join('')}`)
}

function describeEngines(config: Config, engines: Engines): [name: string, address: string][] {
  const names = { Postgres: 'databaseUrl', Redis: 'redisUrl', ClickHouse: 'clickhouseUrl' } as const
  return Object.entries(names).map(([name, key]) => {
    return [name, `${hostOf(config[key] ?? engines[key] ?? '')}${config[key] ? ' (yours)' : ''}`]
  })
}
