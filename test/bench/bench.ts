/** What every scenario works with: the running product, who calls it, and one way to measure. */
import { createBusiness } from '../../src/businesses/businesses.ts'
import { createKey } from '../../src/businesses/keys.ts'
import { type Ground, openGround } from './ceilings/measure-ceilings.ts'
import type { LoadPlan, LoadResult } from './generator/plan.ts'
import { type Traffic, eventsIn } from './generator/traffic.ts'
import { type Measured, acknowledged, measure } from './measure.ts'
import { type Stack, openStack } from './stack.ts'
import { verifyCounts } from './verify.ts'

export interface Bench {
  stack: Stack
  quick: boolean
  /** The first in the short form, the second in the full one. */
  length(quick: number, full: number): number
  /** Businesses that send this traffic and no other. */
  openCallers(traffic: Traffic, businesses?: number): Promise<Callers>
  /**
   * Sends the loads at once, and goes on where each caller's last one ended. Rejects when the stores do not hold exactly
   * what was acknowledged.
   */
  send(...loads: [Callers, LoadOptions][]): Promise<Measured>
  ceilings(): Promise<Ground>
  /** Another copy of the product, on an empty directory; the caller closes it. */
  openAnother(): Promise<OpenBench>
  /** What one scenario found that others need: the rate of saturation, in answers a second. */
  found: { saturation?: number }
  /** What the caller chose in place of a scenario's own sizes. */
  sizes: Sizes
}

/** Of the scenarios of segments, of sends and of analytics. */
export interface Sizes {
  herd?: number | undefined
  clockRows?: number | undefined
  contacts?: number | undefined
  sends?: number | undefined
  waiting?: number | undefined
  events?: number | undefined
}

export type LoadOptions = Pick<LoadPlan, 'pace' | 'connections' | 'seconds' | 'requests' | 'dropLate' | 'trace'>

export interface Callers {
  businessIds: string[]
  plan(options: LoadOptions): LoadPlan
  /** Counts what was acknowledged to its load. */
  note(load: LoadResult): void
  /** Rejects when the stores do not hold exactly what was acknowledged so far. */
  verify(): Promise<void>
}

export interface OpenBench extends Bench {
  close(): Promise<void>
}

export interface BenchOptions {
  quick: boolean
  place: string | undefined
  sizes?: Sizes
}

export async function openBench(options: BenchOptions): Promise<OpenBench> {
  const { quick, place, sizes = {} } = options
  const stack = await openStack(place)
  let ground: Promise<Ground> | undefined
  return {
    stack,
    quick,
    found: {},
    sizes,
    length: (short, full) => (quick ? short : full),
    openCallers: (traffic, businesses = 1) => openCallers(stack, traffic, businesses),
    send: (...loads) => send(stack, loads),
    ceilings: () => (ground ??= openGround(place)),
    openAnother: () => openBench(options),
    async close() {
      await (await ground)?.close()
      await stack.close()
    },
  }
}

async function send(stack: Stack, loads: [Callers, LoadOptions][]): Promise<Measured> {
  const measured = await measure(
    stack,
    loads.map(([callers, options]) => callers.plan(options)),
  )
  for (const [at, [callers]] of loads.entries()) {
    const load = measured.loads[at]
    if (load) callers.note(load)
    await callers.verify()
  }
  return measured
}

async function openCallers(stack: Stack, traffic: Traffic, businesses: number): Promise<Callers> {
  const made = await Promise.all(Array.from({ length: businesses }, () => makeBusiness(stack.own.sql)))
  const businessIds = made.map(({ businessId }) => businessId)
  let first = 0
  let recorded = 0
  return {
    businessIds,
    plan: (options) => ({ url: stack.url, keys: made.map(({ key }) => key), traffic, first, ...options }),
    note(load) {
      first += load.sent
      recorded += acknowledged(load) * eventsIn(traffic)
    },
    verify: () => verifyCounts(stack.own, businessIds, recorded),
  }
}

async function makeBusiness(sql: Stack['own']['sql']) {
  const businessId = await createBusiness(sql, { name: 'Bench', currency: 'EUR', rateLimit: 1_000_000_000 })
  return { businessId, key: (await createKey(sql, businessId, 'secret')).key }
}
