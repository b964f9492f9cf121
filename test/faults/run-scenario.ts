/** One fault from beginning to end: traffic, the fault, healing, the audit, and what came of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Audit, audit } from './audit.ts'
import { Ledger } from './ledger.ts'
import { type Chance, seeded } from './seeded.ts'
import { deliverAgain, startTraffic } from './traffic.ts'
import { type Business, type World, createBusinesses } from './world.ts'

export interface Stage {
  world: World
  chance: Chance
  ledger: Ledger
  businesses: Business[]
  /** How often to do it: little in the short form. */
  times(short: number, long: number): number
  /** Notes how long it takes, from now, until each business is served by both roads; a complaint after `withinMs`. */
  untilServed(withinMs: number): Promise<void>
  check(isWell: boolean, complaint: string): void
}

export interface Scenario {
  name: string
  /** The callers hear an HTTP answer to everything: the front door is up all along. */
  doorStays: boolean
  /** Redis forgets what it had promised: a 202 of before means nothing. */
  forgets?: boolean
  /** Breaks something and brings it back. */
  run(stage: Stage): Promise<void>
}

export interface Report extends Audit {
  scenario: string
  seed: number
  /** The longest that a business was not served, where the scenario measures it. */
  recoveryMs: number | undefined
  /** Attempts by what the client was told. */
  told: Record<string, number>
}

const BUSINESSES = 3
const BEFORE_MS = 600
const AFTER_MS = 600

export async function runScenario(
  world: World,
  scenario: Scenario,
  { seed, long }: { seed: number; long: boolean },
): Promise<Report> {
  const chance = seeded(seed)
  const ledger = new Ledger()
  const businesses = await createBusinesses(world, BUSINESSES)
  const complaints: string[] = []
  const recoveries: number[] = []
  const traffic = startTraffic({ url: world.url, businesses, ledger, chance: chance.fork() })
  try {
    await sleep(BEFORE_MS)
    await scenario.run({
      world,
      chance,
      ledger,
      businesses,
      times: (short, most) => (long ? most : short),
      async untilServed(withinMs) {
        const took = await untilServed(ledger, businesses)
        recoveries.push(took)
        if (took > withinMs) complaints.push(`served again after ${took} ms, more than ${withinMs}`)
      },
      check: (isWell, complaint) => void (isWell || complaints.push(complaint)),
    })
    await sleep(AFTER_MS)
  } finally {
    await world.heal()
    await traffic.stop()
  }
  if (scenario.forgets) ledger.doubtQueued()
  if (scenario.forgets) await deliverAgain(world.url, ledger)
  await world.settle()
  const audited = await audit(world.own, ledger)
  const told = countTold(ledger)
  if (scenario.doorStays) complaints.push(...notHttp(told))
  return {
    ...audited,
    scenario: scenario.name,
    seed,
    recoveryMs: recoveries.length > 0 ? Math.max(...recoveries) : undefined,
    told,
    complaints: [...complaints, ...audited.complaints],
  }
}

const PATIENCE_MS = 30_000

/** Until each business got a 200 for a live request and for a batch that were sent after now; resolves with the time. */
async function untilServed(ledger: Ledger, businesses: Business[]): Promise<number> {
  const from = Date.now()
  const wanted = businesses.length * 2
  for (;;) {
    const served = new Set(
      ledger.sendings
        .filter(({ attempts }) => attempts.some(({ outcome, sentAt }) => outcome === 'answered' && sentAt >= from))
        .map(({ business, kind }) => `${business.businessId} ${kind === 'batch'}`),
    )
    const took = Date.now() - from
    if (served.size >= wanted || took > PATIENCE_MS) return took
    await sleep(20)
  }
}

function countTold(ledger: Ledger): Record<string, number> {
  const groups = Map.groupBy(ledger.attempts(), ({ told }) => told)
  return Object.fromEntries([...groups].map(([told, attempts]) => [told, attempts.length]))
}

const notHttp = (told: Record<string, number>): string[] =>
  Object.entries(told)
    .filter(([answer]) => !/^\d/.test(answer))
    .map(([answer, times]) => `${times} callers got no HTTP answer: ${answer}`)
