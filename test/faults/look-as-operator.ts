/** Reads what operators see of the product: /readyz and /metrics of the front door and of the workers. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world.ts'

export interface ServiceState {
  isReady: boolean
  /** Body of /readyz. */
  text: string
  metrics: string
}

export interface Seen {
  frontDoor: ServiceState
  workers: ServiceState[]
}

const PATIENCE_MS = 60_000

/** Polls until the condition is true. Resolves with the last bodies of /readyz if it does not become true in time. */
export async function untilSeen(world: World, isSo: (seen: Seen) => boolean): Promise<string[] | undefined> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const seen = await look(world)
    if (isSo(seen)) return undefined
    if (Date.now() > deadline) return [seen.frontDoor, ...seen.workers].map(({ text }) => text)
    await sleep(50)
  }
}

async function look({ url, workersUrls }: World): Promise<Seen> {
  const [frontDoor, ...workers] = await Promise.all([ask(url), ...workersUrls.map(ask)])
  return { frontDoor, workers }
}

async function ask(url: string): Promise<ServiceState> {
  const read = (path: string) => fetch(`${url}${path}`, { keepalive: false })
  const [ready, metrics] = [await read('/readyz'), await read('/metrics')]
  return { isReady: ready.ok, text: await ready.text(), metrics: await metrics.text() }
}

/** Returns the value of `name{labels}`; NaN when it is missing. */
export function readFigure(metrics: string, name: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? NaN)
}
