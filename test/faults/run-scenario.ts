/** Runs scenarios of faults: traffic, the faults, healing, the audit, and the report. */
import { setTimeout as sleep } from 'node:timers/promises'
import { atLoad } from '../support/at-load.ts'
import { type Audit, audit } from './audit.ts'
import { checkMessages } from './check-messages.ts'
import { checkManaged } from './check-managed.ts'
import { createMessages } from './create-messages.ts'
import { startImport } from './import-file.ts'
import { type Attempt, Ledger } from './ledger.ts'
import { attemptsOf, createManaged, startManagers } from './managers.ts'
import { type Chance, seeded } from './seeded.ts'
import { startSubscribers } from './subscribers.ts'
import { deliverAgain, startTraffic } from './traffic.ts'
import { verifyWorld } from './verify-world.ts'
import { type Business, type World, createBusinesses } from './world.ts'

export interface Stage {
  world: World
  chance: Chance
  ledger: Ledger
  businesses: Business[]
  /** Returns the number of repetitions: the first one in the short form, the second one in the long form. */
  times(short: number, long: number): number
  /**
   * Measures the time from now until each business is served with live events and with batches. Complains after
   * `withinMs`, and later on a machine where a business waits longer even when nothing is broken.
   */
  untilServed(withinMs: number): Promise<void>
  check(isWell: boolean, complaint: string): void
  /** Adds a figure for the reader of the report. */
  note(figure: string): void
  /** Adds another audit to that of the ledger, to run when everything is at rest. */
  alsoAudit(audit: () => Promise<Audit>): void
}

export interface Scenario {
  name: string
  /** Whether callers always get an HTTP answer, because the front door runs throughout. */
  frontDoorStays: boolean
  /** Returns the reason why this machine cannot run it; undefined when it can. */
  whyNot?(): Promise<string | undefined>
  /** Breaks something and restores it. */
  run(stage: Stage): Promise<void>
}

export interface Report extends Audit {
  scenario: string
  seed: number
  /** Longest time in milliseconds that a business was not served, if the scenario measures it. */
  recoveryMs: number | undefined
  /** The scenario was not completed, and the state of its world is unknown. */
  isStranded?: boolean
  /** Number of attempts by answer. */
  answers: Record<string, number>
  notes: string[]
}

export interface RunOptions {
  seed: number
  long: boolean
  /** Longest pause in milliseconds after each scenario. */
  pauseMs?: number
  /** Ends the run after the current scenario. */
  stopping?: AbortSignal
}

const BUSINESSES = 3
const BEFORE_MS = 600
const AFTER_MS = 600
/**
 * Being served takes at most this long when nothing is broken and the machine is idle. Anything beyond it is due to the
 * machine.
 */
const CALM_MS = 300
/** A business that is not served within this time, and within its limit, is not waited for any longer. */
const PATIENCE_MS = 30_000
/** The same when nothing is broken: only the machine is slow. */
const CALM_PATIENCE_MS = 120_000
/** Not even a slow machine needs longer when nothing is broken. The load of others may. */
const MOST_CALM_MS = 20_000
/** A machine counts as at most this many times slower than an idle one. */
const MOST_SLOWNESS = 10
/** Number of answers that a complaint shows of each business that waits. */
const SHOWN = 8
/** Load caused by a scenario and its neighbours. Only load beyond it comes from others and slows the machine down. */
const OWN_LOAD = 4

export const runScenario = (world: World, scenario: Scenario, options: RunOptions): Promise<Report> =>
  runScenarios(world, [scenario], options)

/** Runs the scenarios one after the other under the same traffic, with one audit at the end. */
export async function runScenarios(world: World, scenarios: Scenario[], options: RunOptions): Promise<Report> {
  const run = await startRun(world, options)
  const began: Scenario[] = []
  let isStranded = false as boolean
  const strand = (error: unknown): void => {
    isStranded = true
    run.complaints.push(`did not come to its end: ${error instanceof Error ? error.message : String(error)}`)
  }
  await play(scenarios, options, run, began).catch(strand)
  await world.heal()
  await Promise.all(run.traffic.map((traffic) => traffic.stop()))
  run.ledger.doubtQueued()
  if (run.ledger.forgottenAt !== undefined) await deliverAgain(world.url, run.ledger)
  await world.settle().catch(strand)
  const audited = addUp(await Promise.all(run.audits.map((audit) => audit())))
  const differing = isStranded
    ? []
    : await verifyWorld(world, [...run.businessIds, run.managed.business.businessId], run.businessIds)
  const messages = isStranded ? { complaints: [], notes: [] } : await checkMessages(world, run.ledger)
  const managed = isStranded ? [] : await checkManaged(world.own.sql, run.managed, run.ledger.forgottenAt)
  const attempts = [...run.ledger.attempts(), ...attemptsOf(run.managed)]
  const answers = countAnswers(attempts)
  const unheard = began.every(({ frontDoorStays }) => frontDoorStays) ? notHttp(attempts) : []
  return {
    ...audited,
    scenario: began.map(({ name }) => name).join(' · '),
    seed: options.seed,
    recoveryMs: run.recoveries.length > 0 ? Math.max(...run.recoveries) : undefined,
    answers,
    notes: [...run.notes, ...messages.notes],
    complaints: [
      ...run.complaints,
      ...unheard,
      ...audited.complaints,
      ...differing,
      ...messages.complaints,
      ...managed,
    ],
    isStranded,
  }
}

type Run = Awaited<ReturnType<typeof startRun>>

async function play(
  scenarios: Scenario[],
  { stopping, pauseMs = AFTER_MS }: RunOptions,
  { chance, calm, complaints, stageOf }: Run,
  began: Scenario[],
): Promise<void> {
  await sleep(BEFORE_MS)
  for (const scenario of scenarios) {
    if (stopping?.aborted) return
    began.push(scenario)
    const calmMs = await calm()
    if (calmMs > CALM_PATIENCE_MS) throw new Error(`not served before anything was broken: ${scenario.name}`)
    if (calmMs > Math.max(MOST_CALM_MS, atLoad(MOST_CALM_MS) / OWN_LOAD))
      complaints.push(`${scenario.name}: served after ${calmMs} ms before anything was broken`)
    const stage = stageOf(scenarios.length > 1 ? `${scenario.name}: ` : '', calmMs)
    await scenario.run(stage)
    await sleep(chance.between(AFTER_MS, pauseMs))
    // The next scenario must not see effects of this one.
    if (scenario !== scenarios.at(-1)) await stage.untilServed(PATIENCE_MS)
  }
}

async function startRun(world: World, { seed, long }: RunOptions) {
  const chance = seeded(seed)
  const ledger = new Ledger()
  const businesses = await createBusinesses(world, BUSINESSES)
  for (const business of businesses) await createMessages(world, business)
  const complaints: string[] = []
  const recoveries: number[] = []
  const notes: string[] = []
  const audits = [() => audit(world.own, ledger)]
  const of = { url: world.url, businesses, ledger }
  const managed = await createManaged(world.own.sql)
  const traffic = [
    startTraffic({ ...of, chance: chance.fork() }),
    startSubscribers({ ...of, chance: chance.fork() }),
    startManagers(managed, { url: world.url, chance: chance.fork() }),
    startImport(world, managed),
  ]
  const complain = (complaint: string) => void complaints.push(complaint)
  const calm = async () => (await untilServed(ledger, businesses, CALM_PATIENCE_MS)).took
  const stageOf = (prefix: string, calmMs: number): Stage => ({
    world,
    chance,
    ledger,
    businesses,
    times: (short, most) => (long ? most : short),
    async untilServed(withinMs) {
      const slowness = Math.min(MOST_SLOWNESS, Math.max(1, calmMs / CALM_MS))
      const limit = Math.max(withinMs * slowness, atLoad(withinMs) / OWN_LOAD)
      const { took, late } = await untilServed(ledger, businesses, Math.max(PATIENCE_MS, limit))
      recoveries.push(took)
      if (took > limit)
        complain(`${prefix}served again after ${took} ms, more than ${withinMs} (${calmMs} in calm): ${late}`)
    },
    check: (isWell, complaint) => void (isWell || complain(prefix + complaint)),
    note: (figure) => void notes.push(prefix + figure),
    alsoAudit: (more) => void audits.push(more),
  })
  const businessIds = businesses.map(({ businessId }) => businessId)
  return { chance, ledger, managed, businessIds, complaints, recoveries, notes, audits, traffic, calm, stageOf }
}

function addUp(audits: Audit[]): Audit {
  const sum = (of: (audit: Audit) => number) => audits.reduce((total, one) => total + of(one), 0)
  return {
    acknowledged: sum(({ acknowledged }) => acknowledged),
    recorded: sum(({ recorded }) => recorded),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    complaints: audits.flatMap(({ complaints }) => complaints),
  }
}

interface Recovery {
  took: number
  /** The last one that was served, or those who were not, with the answers that they got. */
  late: string
}

/**
 * Waits until each business gets a 200 for a live request and for a batch that were sent after now. Resolves with the
 * time taken.
 */
async function untilServed(ledger: Ledger, businesses: Business[], patienceMs: number): Promise<Recovery> {
  const from = Date.now()
  const keyOf = ({ businessId }: Business, isBatch: boolean) => `${businessId} ${isBatch ? 'batch' : 'live'}`
  const wanted = businesses.flatMap((business) => [keyOf(business, false), keyOf(business, true)])
  let late = ''
  for (;;) {
    const since = ledger.sendings.flatMap(({ business, kind, attempts }) =>
      attempts.filter(({ sentAt }) => sentAt >= from).map((made) => ({ key: keyOf(business, kind === 'batch'), made })),
    )
    const answers = Map.groupBy(since, ({ key }) => key)
    const waiting = wanted.filter((key) => !answers.get(key)?.some(({ made }) => made.outcome === 'answered'))
    const took = Date.now() - from
    if (waiting.length > 0) late = waiting.map((key) => describeLate(key, answers.get(key) ?? [], from)).join('; ')
    if (waiting.length === 0 || took > patienceMs) return { took, late }
    await sleep(20)
  }
}

function describeLate(key: string, answers: { made: Attempt }[], from: number): string {
  const last = answers.slice(-SHOWN).map(({ made }) => `${made.answer} ${made.sentAt - from}..${made.endedAt - from}`)
  return `${key}: ${answers.length} answers${last.length > 0 ? `, the last ${last.join(', ')}` : ''}`
}

function countAnswers(all: Attempt[]): Record<string, number> {
  const groups = Map.groupBy(all, ({ answer }) => answer)
  return Object.fromEntries([...groups].map(([answer, attempts]) => [answer, attempts.length]))
}

const notHttp = (attempts: Attempt[]): string[] =>
  attempts
    .filter(({ answer }) => !/^\d/.test(answer))
    .map(({ answer, detail, sentAt, endedAt }) => `no HTTP answer: ${answer} (${detail}, after ${endedAt - sentAt} ms)`)
