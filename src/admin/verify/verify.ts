import { repeatClickHouse } from '../../migrate/migrate.ts'
import type { Difference } from './difference.ts'
import { checkTables } from './check-tables.ts'
import { describeDifferences } from './describe-differences.ts'
import {
  type Selection,
  type Findings,
  inspectAgain,
  inspectAll,
  type InspectDeps,
  type Uncompared,
} from './inspect.ts'
import { listBusinesses } from './list-businesses.ts'
import {
  type RepairCounts,
  type RepairDeps,
  repairErasures,
  repairEvents,
  repairKeys,
  repairSome,
  waitUntilRepaired,
  withShipper,
} from './repair.ts'
import { waitUntilCaughtUp } from './wait-until-caught-up.ts'

export type VerifyDeps = Omit<InspectDeps, 'onDifferent' | 'onMissingKeys'> & RepairDeps

export interface VerifyResult {
  businesses: number
  contacts: number
  visitors: number
  /** Contacts and visitors that changed, or waited for the shipper, at each look. `stuck`: those of them that only waited. */
  notCompared: number
  stuck: number
  /** Contacts and visitors that differ. */
  differing: number
  /** The number of differences by kind. */
  found: Record<string, number>
  /** Those of the first `maxKept` contacts and visitors. */
  differences: Difference[]
  /** Parts that could not be compared: tables that changed all the time, a business too large for a statement. */
  uncompared: Uncompared[]
  /** Null without `repair`. */
  repaired: (RepairCounts & { tables: number }) | null
}

export interface VerifyOptions {
  /** Only these; without it, all. */
  businessIds?: string[]
  repair: boolean
}

/** The most rounds of repair. Another round follows only if the last one reduced the differences. */
const ROUNDS = 3

/**
 * Compares the stores, and with `repair` corrects what it can. It reads, and for a repair requests work from the shipper.
 * It takes no lock that others wait for, and can be stopped anywhere.
 */
export async function verify(deps: VerifyDeps, options: VerifyOptions): Promise<VerifyResult> {
  const { businessIds, repair } = options
  const missing = await checkTables(deps.clickhouse)
  if (missing.length > 0 && !repair) return { ...NOTHING, found: countKinds(missing), differences: missing }
  if (missing.length > 0) await repeatClickHouse(deps.clickhouse)
  const selection = { businesses: businessIds ?? (await listBusinesses(deps.sql)), areAll: businessIds === undefined }
  if (!repair) {
    await waitUntilCaughtUp(deps)
    const findings = await inspectAll({ ...deps, ...IGNORE_FOUND }, selection)
    return { ...(await conclude(deps, findings)), repaired: null }
  }
  return await withShipper(deps, async () => {
    await waitUntilCaughtUp(deps)
    // First finish the requests of an earlier repair that was killed: contacts that wait cannot be compared.
    await waitUntilRepaired(deps, 0)
    const { findings, requested } = await repairAll(deps, selection)
    return { ...(await conclude(deps, findings)), repaired: { ...requested, tables: missing.length } }
  })
}

const ignore = () => Promise.resolve()
const IGNORE_FOUND = { onDifferent: ignore, onMissingKeys: ignore }

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

async function repairAll(
  deps: VerifyDeps,
  selection: Selection,
): Promise<{ findings: Findings; requested: RepairCounts }> {
  const requested: RepairCounts = { saves: 0, copies: 0, contacts: 0, visitors: 0, erasures: 0, corrected: 0, keys: 0 }
  const repairing: InspectDeps = {
    ...deps,
    onDifferent: async (subject, businessId, different) =>
      add(requested, await repairSome(deps, subject, businessId, different)),
    onMissingKeys: async (businessId, missing) => add(requested, await repairKeys(deps, businessId, missing)),
  }
  let findings = await inspectAll(repairing, selection)
  for (let round = 0; round < ROUNDS && countOf(findings) > 0 && !deps.signal.aborted; round += 1) {
    add(requested, await repairEvents(deps, findings))
    add(requested, await repairErasures(deps, findings))
    if (findings.others.some(({ kind }) => kind === 'view')) await repeatClickHouse(deps.clickhouse)
    await waitUntilRepaired(deps, 0)
    const [before, requestedBefore] = [findings, totalOf(requested)]
    findings = await inspectDifferent(repairing, before, selection)
    // A contact that has only now become stable may differ, and no repair was requested for it yet.
    if (findings.notCompared < before.notCompared) continue
    if (totalOf(requested) === requestedBefore) break
    // The findings do not include the repairs that were just requested.
    await waitUntilRepaired(deps, 0)
    findings = await inspectDifferent({ ...deps, ...IGNORE_FOUND }, findings, selection)
    if (countOf(findings) >= countOf(before)) break
  }
  return { findings, requested }
}

function add(requested: RepairCounts, more: Partial<RepairCounts>): void {
  for (const key of Object.keys(requested) as (keyof RepairCounts)[]) requested[key] += more[key] ?? 0
}

const totalOf = (requested: RepairCounts): number =>
  Object.values<number>({ ...requested }).reduce((sum, count) => sum + count, 0)

/** The number of things that are not known to agree. */
const countOf = ({ differing, notCompared, others, missingKeys }: Findings): number =>
  differing + others.length + missingKeys.count + notCompared

/** Inspects only what differed before, unless that was more than could be kept. */
async function inspectDifferent(deps: InspectDeps, before: Findings, selection: Selection): Promise<Findings> {
  const isAllKept = before.differing === before.different.length && before.notCompared === before.unstable.length
  return isAllKept ? await inspectAgain(deps, before) : await inspectAll(deps, selection)
}

async function conclude(deps: VerifyDeps, findings: Findings): Promise<Omit<VerifyResult, 'repaired'>> {
  const { different, kinds, others, missingKeys, businesses, contacts, visitors, notCompared } = findings
  const { stuck, differing, uncompared } = findings
  const differences = [...(await describeDifferences(deps, different)), ...missingKeys.first, ...others]
  const keys: Record<string, number> = missingKeys.count > 0 ? { key: missingKeys.count } : {}
  const found = { ...Object.fromEntries(kinds), ...keys, ...countKinds(others) }
  return { businesses, contacts, visitors, notCompared, stuck, differing, found, differences, uncompared }
}
