import { repeatClickHouse } from '../../migrate/migrate.ts'
import type { Difference } from './difference.ts'
import { checkTables } from './check-tables.ts'
import { explain } from './explain.ts'
import { type Chosen, type Findings, inspectAgain, inspectAll, type InspectDeps, type Uncompared } from './inspect.ts'
import { listBusinesses } from './list-businesses.ts'
import {
  type ResyncRequest,
  type RepairDeps,
  repairErasures,
  repairEvents,
  repairKeys,
  repairSome,
  waitUntilRequested,
  withShipper,
} from './repair.ts'
import { waitUntilCaughtUp } from './wait-until-caught-up.ts'

export type VerifyDeps = Omit<InspectDeps, 'onDifferent' | 'onMissingKeys'> & RepairDeps

export interface Verdict {
  businesses: number
  contacts: number
  visitors: number
  /** Contacts and visitors that changed, or waited for the shipper, each time they were looked at; and those that only waited. */
  notCompared: number
  stuck: number
  /** Contacts and visitors that differ. */
  differing: number
  /** How many differences there are of each kind. */
  found: Record<string, number>
  /** Of very many those of the first (`mostKept`). */
  differences: Difference[]
  /** What could not be compared otherwise: tables that never stood still, a business too large for a statement. */
  uncompared: Uncompared[]
  /** Null unless asked to repair. */
  repaired: (ResyncRequest & { tables: number }) | null
}

export interface VerifyOptions {
  /** Of these alone. */
  businessIds?: string[]
  repair: boolean
}

/** Another round of repair follows while one brings the end nearer. */
const ROUNDS = 3

/**
 * Compares the stores, and with `repair` sets right what can be. It reads and, for a repair, asks the shipper: it takes
 * no lock that anybody waits for, and can be stopped anywhere.
 */
export async function verify(deps: VerifyDeps, options: VerifyOptions): Promise<Verdict> {
  const { businessIds, repair } = options
  const missing = await checkTables(deps.clickhouse)
  if (missing.length > 0 && !repair) return { ...NOTHING, found: countKinds(missing), differences: missing }
  if (missing.length > 0) await repeatClickHouse(deps.clickhouse)
  const chosen = { businesses: businessIds ?? (await listBusinesses(deps.sql)), areAll: businessIds === undefined }
  if (!repair) {
    await waitUntilCaughtUp(deps)
    const findings = await inspectAll({ ...deps, ...IGNORE }, chosen)
    return { ...(await conclude(deps, findings)), repaired: null }
  }
  return await withShipper(deps, async () => {
    await waitUntilCaughtUp(deps)
    // What an earlier repair asked for, and died: contacts that wait cannot be compared.
    await waitUntilRequested(deps, 0)
    const { findings, asked } = await repairAll(deps, chosen)
    return { ...(await conclude(deps, findings)), repaired: { ...asked, tables: missing.length } }
  })
}

const ignore = () => Promise.resolve()
const IGNORE = { onDifferent: ignore, onMissingKeys: ignore }

const NOTHING = {
  businesses: 0,
  contacts: 0,
  visitors: 0,
  notCompared: 0,
  stuck: 0,
  differing: 0,
  uncompared: [],
  repaired: null,
}

const countKinds = (differences: Difference[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(differences, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]))

async function repairAll(deps: VerifyDeps, chosen: Chosen): Promise<{ findings: Findings; asked: ResyncRequest }> {
  const asked: ResyncRequest = { saves: 0, copies: 0, contacts: 0, visitors: 0, erasures: 0, corrected: 0, keys: 0 }
  const repairing: InspectDeps = {
    ...deps,
    onDifferent: async (of, businessId, different) => add(asked, await repairSome(deps, of, businessId, different)),
    onMissingKeys: async (businessId, missing) => add(asked, await repairKeys(deps, businessId, missing)),
  }
  let findings = await inspectAll(repairing, chosen)
  for (let round = 0; round < ROUNDS && countOf(findings) > 0 && !deps.signal.aborted; round += 1) {
    add(asked, await repairEvents(deps, findings))
    add(asked, await repairErasures(deps, findings))
    if (findings.others.some(({ kind }) => kind === 'view')) await repeatClickHouse(deps.clickhouse)
    await waitUntilRequested(deps, 0)
    const [before, askedBefore] = [findings, totalOf(asked)]
    findings = await lookAgain(repairing, before, chosen)
    // One that came to rest at last may be apart, and nothing was asked for it yet.
    if (findings.notCompared < before.notCompared) continue
    if (totalOf(asked) === askedBefore) break
    // What was just asked for is not in the findings.
    await waitUntilRequested(deps, 0)
    findings = await lookAgain({ ...deps, ...IGNORE }, findings, chosen)
    if (countOf(findings) >= countOf(before)) break
  }
  return { findings, asked }
}

function add(asked: ResyncRequest, more: Partial<ResyncRequest>): void {
  for (const key of Object.keys(asked) as (keyof ResyncRequest)[]) asked[key] += more[key] ?? 0
}

const totalOf = (asked: ResyncRequest): number =>
  Object.values<number>({ ...asked }).reduce((sum, count) => sum + count, 0)

/** What is not known to agree. */
const countOf = ({ differing, notCompared, others, missingKeys }: Findings): number =>
  differing + others.length + missingKeys.count + notCompared

/** Only at what was apart, unless that was too much to be remembered. */
async function lookAgain(deps: InspectDeps, before: Findings, chosen: Chosen): Promise<Findings> {
  const isAllKept = before.differing === before.different.length && before.notCompared === before.unstable.length
  return isAllKept ? await inspectAgain(deps, before) : await inspectAll(deps, chosen)
}

async function conclude(deps: VerifyDeps, findings: Findings): Promise<Omit<Verdict, 'repaired'>> {
  const { different, kinds, others, missingKeys, businesses, contacts, visitors, notCompared } = findings
  const { stuck, differing, uncompared } = findings
  const differences = [...(await explain(deps, different)), ...missingKeys.first, ...others]
  const keys: Record<string, number> = missingKeys.count > 0 ? { key: missingKeys.count } : {}
  const found = { ...Object.fromEntries(kinds), ...keys, ...countKinds(others) }
  return { businesses, contacts, visitors, notCompared, stuck, differing, found, differences, uncompared }
}
