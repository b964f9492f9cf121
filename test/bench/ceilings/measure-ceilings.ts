/**
 * Measures the minimum cost of the same events in each part, in the same run on separate engines with the pipeline's
 * settings. Each figure includes the client's CPU.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoreUrls } from '../../../src/stores/data-dir.ts'
import { startEngines } from '../../../src/embedded/engines.ts'
import { superuserUrl } from '../../../src/embedded/postgres/prepare-postgres.ts'
import { environmentWithout } from '../../../src/embedded/processes/engine-command.ts'
import { freePort, runEngine, runtimeCommand, untilReady } from '../../../src/embedded/processes/run-engine.ts'
import { createLogger } from '../../../src/log.ts'
import { connectPostgres } from '../../../src/stores/postgres.ts'
import type { LoadPlan, LoadResult } from '../generator/plan.ts'
import { type Traffic, eventsIn } from '../generator/traffic.ts'
import { makeFolder } from '../make-folder.ts'
import { GENERATOR } from '../measure.ts'
import { readCpu } from '../process-tree.ts'
import type { Groups } from '../read-groups.ts'
import { untilOk, untilWalIsUsed } from '../stack.ts'
import { startTask } from '../task.ts'
import type { CeilingPlan, CeilingResult } from './plan.ts'

const ENGINES = ['redis', 'postgres', 'clickhouse'] as const
const STEPS = ['http', ...ENGINES] as const
export type Step = (typeof STEPS)[number]

/** Microseconds of CPU per event. */
export interface Ceilings {
  steps: Record<Step, number>
  sum: number
}

export interface Ground {
  measure(traffic: Traffic, groups: Groups, size: CeilingSize): Promise<Ceilings>
  close(): Promise<void>
}

export interface CeilingSize {
  events: number
  warmUp: number
  connections: number
}

/** Opens engines and a server that does nothing, on an empty directory. */
export async function openGround(place?: string): Promise<Ground> {
  const folder = await makeFolder(place)
  const engines = await startEngines(folder, { log: createLogger({ level: 'warn', name: 'ceilings', to: 2 }) })
  const url = `http://127.0.0.1:${await freePort()}`
  const server = await runServer(folder, url)
  const pids = await readPids(folder)
  // Creates databases, and uses WAL segments.
  const databaseUrl = await superuserUrl(folder, engines.databaseUrl ?? '')
  const stores = { ...engines, databaseUrl } as StoreUrls
  const sql = connectPostgres(stores.databaseUrl, { max: 1 })
  await untilWalIsUsed(sql)
  await sql.end()

  return {
    async measure(traffic, groups, { events, warmUp, connections }) {
      const plan: CeilingPlan = { stores, traffic, groups, warmUp, events }
      const http = await measureServer(pids.server, { url, traffic, connections }, { events, warmUp })
      const steps = { http, redis: 0, postgres: 0, clickhouse: 0 }
      for (const engine of ENGINES) steps[engine] = await measureEngine(pids[engine], engine, plan)
      return { steps, sum: Object.values(steps).reduce((sum, us) => sum + us, 0) }
    },
    async close() {
      await server.stop()
      await engines.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function runServer(folder: string, url: string) {
  const command = runtimeCommand(new URL('noop-server.ts', import.meta.url), [new URL(url).port])
  const engine = {
    name: 'server',
    dataDir: folder,
    folder,
    command,
    environment: environmentWithout(),
    signal: 'TERM' as const,
  }
  const running = await runEngine(engine)
  await untilReady(engine, running, untilOk(`${url}/healthz`))
  return running
}

async function readPids(folder: string) {
  const pid = async (name: string) => Number(await readFile(join(folder, `${name}.pid`), 'utf8'))
  const [server = 0, redis = 0, postgres = 0, clickhouse = 0] = await Promise.all(['server', ...ENGINES].map(pid))
  return { server, redis, postgres, clickhouse }
}

type IngestLab = Pick<LoadPlan, 'url' | 'traffic' | 'connections'>

/** Measures only the server's CPU, because the generator is not part of the product. */
async function measureServer(pid: number, lab: IngestLab, { events, warmUp }: { events: number; warmUp: number }) {
  const requests = (count: number) => Math.ceil(count / eventsIn(lab.traffic))
  const load = async (first: number, count: number): Promise<number> => {
    const plan: LoadPlan = { ...lab, keys: ['none'], first, requests: count, seconds: 60, pace: { kind: 'closed' } }
    const generator = await startTask<LoadResult>(GENERATOR, plan)
    const before = readCpu({ pid })
    const { answers } = await generator.go()
    const after = readCpu({ pid })
    await generator.end()
    if (answers['200'] !== count) throw new Error(`The server that does nothing answered ${JSON.stringify(answers)}`)
    return after.pid - before.pid
  }
  await load(0, requests(warmUp))
  return (await load(requests(warmUp), requests(events))) / events
}

async function measureEngine(pid: number, engine: (typeof ENGINES)[number], plan: CeilingPlan): Promise<number> {
  const task = await startTask<CeilingResult>(new URL(`${engine}.ts`, import.meta.url), plan)
  const before = readCpu({ pid })
  const { events, cpuUs } = await task.go()
  const after = readCpu({ pid })
  await task.end()
  return (after.pid - before.pid + cpuUs) / events
}
