/**
 * Tries a campaign on the real events of a period (campaigns, "Reading"), as if it had been published at its beginning
 * and had enrolled nobody after its end. Nothing is stored, and nothing is sent.
 */
import { type Counted, createTally } from '../../rules/campaigns/backtest-tally.ts'
import { createDayOf } from '../../rules/local-days.ts'
import { waitUntilShipped } from '../../segments/wait-until-shipped.ts'
import { BacktestError } from './backtest-error.ts'
import { type EntrantDeps, findEntrants } from './find-entrants.ts'
import { packSets } from './load-histories.ts'
import { type PastPerson, loadPeople } from './load-people.ts'
import { type Approximation, type Plan } from './plan-backtest.ts'
import { replaySet } from './replay-set.ts'

/** Number of contacts that are read from Postgres at once. */
const PAGE = 500
/** Number of ids in a query to ClickHouse. */
const MAX_IDS = 5000

export interface BacktestResult extends Counted {
  /** True when all contacts were replayed. */
  isComplete: boolean
  /** Number of contacts that are too large to replay. */
  leftOut: number
  approximations: Approximation[]
}

/** Contacts. `total`: null until it is known. */
export interface Progress {
  done: number
  total: number | null
}

export interface RunDeps extends EntrantDeps {
  /** Takes turns with the other backtests of this process. */
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>
  onProgress: (progress: Progress) => void
}

/** Throws BacktestError when it has no result. Rejects when the signal aborts. */
export async function runBacktest(deps: RunDeps, plan: Plan): Promise<BacktestResult> {
  const { sql, signal, inTurn, onProgress } = deps
  if (!(await waitUntilShipped(sql, plan.business.id, SHIPPING, signal)))
    throw new BacktestError('The timeline is not complete yet. Start the backtest again later.')
  const { contactIds, entries } = await inTurn(() => findEntrants(deps, plan))
  const tally = createTally(plan.campaign.steps, createDayOf(plan.business.timezone))
  let leftOut = 0
  onProgress({ done: 0, total: contactIds.length })
  for (let done = 0; done < contactIds.length; done += PAGE) {
    const page = contactIds.slice(done, done + PAGE)
    const packed = await inTurn(async () => pack(deps, plan, await loadPeople(sql, plan, page)))
    leftOut += packed.leftOut
    for (const people of packed.sets) {
      signal.throwIfAborted()
      await inTurn(() => replaySet(deps, plan, { people, entries }, tally))
    }
    onProgress({ done: done + page.length, total: contactIds.length })
  }
  return { ...tally.counted(), isComplete: leftOut === 0, leftOut, approximations: plan.approximations }
}

const SHIPPING = { ms: 15_000, whileMovingMs: 60_000 }

/** Groups of contacts whose ids fit into a query. */
async function pack(deps: RunDeps, plan: Plan, people: readonly PastPerson[]) {
  const sets: PastPerson[][] = []
  let leftOut = 0
  for (const group of groupByIds(people)) {
    if (group.length === 1 && group[0]!.ids.length > MAX_IDS) {
      leftOut += 1
      continue
    }
    const packed = await packSets(deps, plan, group)
    sets.push(...packed.sets)
    leftOut += packed.leftOut
  }
  return { sets, leftOut }
}

function groupByIds(people: readonly PastPerson[]): PastPerson[][] {
  const groups: PastPerson[][] = []
  let room = 0
  for (const person of people) {
    if (person.ids.length > room) {
      groups.push([])
      room = MAX_IDS
    }
    groups.at(-1)?.push(person)
    room -= person.ids.length
  }
  return groups
}
