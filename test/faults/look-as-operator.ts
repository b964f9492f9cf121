/** What an operator sees of the product from outside: /readyz and /metrics of the front door and of the workers. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world.ts'

export interface ServiceState {
  isReady: boolean
  /** Of /readyz. */
  text: string
  metrics: string
}

export interface Seen {
  frontDoor: ServiceState
  workers: ServiceState[]
}

const PATIENCE_MS = 60_000

/** Looks until it is so; resolves with what /readyz said last when it did not come to that. */
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

/** The value of `name{labels}`; NaN when it is not there. */
export function readFigure(metrics: string, name: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? NaN)
}
