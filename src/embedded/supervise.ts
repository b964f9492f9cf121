/**
 * `start`: the whole product on one machine. The supervisor brings up the engines, migrates, then runs the front door and the
 * workers as processes of their own, starts again what dies, and takes everything down in order.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Config, resolveStores, type StoreUrls } from '../config.ts'
import { createLogger, type Logger } from '../log.ts'
import { migrate } from '../migrate.ts'
import { connectClickHouse } from '../stores/clickhouse.ts'
import { connectPostgres } from '../stores/postgres.ts'
import { placeOf, requireStores } from '../stores/require-stores.ts'
import { explainTakenPort } from '../taken-port.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { calmRuntime } from './calm-runtime.ts'
import { type DemoKeys, ensureDemo } from './demo-business.ts'
import type { RunningEngine } from './engine-setup.ts'
import { type Engines, startEngines } from './engines.ts'
import { explainUnready } from './explain-unready.ts'
import { keepRunning } from './keep-running.ts'
import { freePort, runEngine, runtimeCommand, untilReady } from './run-engine.ts'
import { complainOf, farewell, greet } from './tell-operator.ts'

const READY_MS = 60_000

interface Service {
  name: string
  command: 'serve' | 'workers'
  url: string
  environment: Record<string, string>
}

/**
 * Runs until `signal` is aborted, be it while it starts, then drains the front door, the workers and the engines, in this
 * order. Throws when something cannot start.
 */
export async function supervise(config: Config, signal: AbortSignal): Promise<void> {
  const log = createLogger({ level: 'warn', name: 'start', to: 2 })
  const down: (() => Promise<void>)[] = []
  signal.addEventListener('abort', farewell)
  try {
    const ready = async () => {
      await refuseTakenPort(config.host, config.port)
      const { databaseUrl, redisUrl, clickhouseUrl } = config
      await requireStores(config, { databaseUrl, redisUrl, clickhouseUrl }, signal)
    }
    const engines = await startEngines(config.dataDir, { log, only: missingUrls(config), ready, signal })
    down.unshift(() => engines.stop())
    const demo = await unlessAborted(prepareStores(config, log), signal)
    const url = await startServices(config, down, signal)
    greet({ url, config, engines: describeEngines(config, engines), demo })
    await untilAborted(signal)
  } catch (error) {
    // Whatever ends a start that nobody wants any more is no fault.
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

async function prepareStores(config: Config, log: Logger): Promise<DemoKeys | undefined> {
  const stores = await resolveStores(config)
  const sql = connectPostgres(stores.databaseUrl, { max: 1, name: 'sluice-start' })
  const clickhouse = connectClickHouse(stores.clickhouseUrl)
  try {
    await migrate(sql, clickhouse, log, config.streamPartitions)
    return await ensureDemo(sql, config.dataDir)
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), clickhouse.close()])
  }
}

/** Resolves to the front door's address once it is ready, which includes the workers. */
async function startServices(config: Config, down: (() => Promise<void>)[], signal: AbortSignal): Promise<string> {
  const port = String(config.port || (await freePort()))
  const healthPort = String(config.workerMetricsPort || (await freePort()))
  const url = `http://${reachableHost(config.host)}:${port}`
  const services: Service[] = [
    {
      name: 'workers',
      command: 'workers',
      url: `http://127.0.0.1:${healthPort}`,
      environment: { HOST: '127.0.0.1', WORKERS_PORT: healthPort },
    },
    { name: 'front-door', command: 'serve', url, environment: { PORT: port } },
  ]
  for (const service of services) {
    const kept = await keepRunning({
      name: service.name,
      log: complainOf(service.name, config),
      start: (signal) => startService(service, config, signal),
      signal,
    })
    down.unshift(() => kept.stop())
  }
  await untilOk(`${url}/readyz`, config, signal)
  return url
}

/** Told at once; the front door alone would be tried again and again. */
async function refuseTakenPort(host: string, port: number): Promise<void> {
  const probe = createServer()
  try {
    await once(probe.listen(port, host), 'listening')
  } catch (error) {
    throw explainTakenPort(error, host, port)
  } finally {
    probe.close()
  }
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

async function startService(service: Service, config: Config, signal: AbortSignal): Promise<RunningEngine> {
  const environment = { ...calmRuntime(), ...service.environment, DATA_DIR: config.dataDir }
  const engine = {
    name: service.name,
    dataDir: config.dataDir,
    folder: config.dataDir,
    command: [
      'env',
      ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      ...runtimeCommand(new URL('../cli.ts', import.meta.url), [service.command]),
    ],
    signal: 'TERM' as const,
  }
  const running = await runEngine(engine, signal)
  await untilReady(engine, running, untilOk(`${service.url}/healthz`, config, signal), signal)
  return { ...running, url: service.url }
}

async function untilOk(url: string, { dataDir }: Config, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + READY_MS
  let complaint = 'no answer'
  while (Date.now() < deadline) {
    const response = await fetch(url, { signal }).catch(() => undefined)
    if (response?.ok) return
    complaint = (await response?.text()) ?? complaint
    await sleep(50, undefined, { signal })
  }
  const reasons = explainUnready(complaint).map((reason) => `\n  ${reason}`)
  throw new Error(`${url} is not well after ${READY_MS / 1000} s (logs: ${dataDir}/*.log):${reasons.join('')}`)
}

function describeEngines(config: Config, engines: Engines): [name: string, address: string][] {
  const names = { Postgres: 'databaseUrl', Redis: 'redisUrl', ClickHouse: 'clickhouseUrl' } as const
  return Object.entries(names).map(([name, key]) => {
    return [name, `${placeOf(config[key] ?? engines[key] ?? '')}${config[key] ? ' (yours)' : ''}`]
  })
}
