/** The shared basis of all scenarios: the running product, its callers, and one way to measure. */
import { insertBusiness } from '../../src/businesses/businesses.ts'
import { insertKey } from '../../src/businesses/keys.ts'
import { type Ground, openGround } from './ceilings/measure-ceilings.ts'
import type { LoadPlan, LoadResult } from './generator/plan.ts'
import { type Traffic, eventsIn } from './generator/traffic.ts'
import { type Measured, acknowledged, measure } from './measure.ts'
import { type Stack, openStack } from './stack.ts'
import { verifyCounts } from './verify.ts'

export interface Bench {
  stack: Stack
  quick: boolean
  /** Returns the first value in the short form, the second one in the full form. */
  length(quick: number, full: number): number
  /** Creates businesses that send only this traffic. */
  openCallers(traffic: Traffic, businesses?: number): Promise<Callers>
  /**
   * Sends the loads concurrently. Each caller continues where its last load ended. Rejects when the stores do not
   * contain exactly the acknowledged events.
   */
  send(...loads: [Callers, LoadOptions][]): Promise<Measured>
  ceilings(): Promise<Ground>
  /** Opens another copy of the product on an empty directory. The caller closes it. */
  openAnother(): Promise<OpenBench>
  /** Results that other scenarios need: the saturation rate, in answers per second. */
  found: { saturation?: number }
  /** Sizes that replace those of the scenarios. */
  sizes: Sizes
}

/** Sizes of the scenarios of segments, sends and analytics. */
export interface Sizes {
  herd?: number | undefined
  clockRows?: number | undefined
  contacts?: number | undefined
  segments?: number | undefined
  sends?: number | undefined
  waiting?: number | undefined
  events?: number | undefined
}

export type LoadOptions = Pick<LoadPlan, 'pace' | 'connections' | 'seconds' | 'requests' | 'dropLate' | 'trace'>

export interface Callers {
  businessIds: string[]
  plan(options: LoadOptions): LoadPlan
  /** Adds the acknowledged events of a load. */
  note(load: LoadResult): void
  /** Rejects when the stores do not contain exactly the events acknowledged so far. */
  verify(): Promise<void>
}

export interface OpenBench extends Bench {
  close(): Promise<void>
}

export interface BenchOptions {
  quick: boolean
  place: string | undefined
  sizes?: Sizes
  /** Folder of the build to measure. Default: this one. */
  sources?: string | undefined
}

export async function openBench(options: BenchOptions): Promise<OpenBench> {
  const { quick, place, sizes = {}, sources } = options
  const stack = await openStack(place, sources)
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
  const businessId = await insertBusiness(sql, { name: 'Bench', currency: 'EUR', rateLimit: 1_000_000_000 })
  return { businessId, key: (await insertKey(sql, businessId, 'secret')).key }
}
