import { repeatClickHouse } from '../../migrate/migrate.ts'
import { awaitClickHouse } from './await-clickhouse.ts'
import { findMissingTables, listBusinesses } from './check-stores.ts'
import { isRepairedBy } from './contact-kinds.ts'
import { describeDifferences } from './describe-differences.ts'
import { findInOutbox, withMergedIds } from './find-in-outbox.ts'
import {
  addDifferences,
  emptyFindings,
  type Findings,
  inspectAgain,
  inspectAll,
  type InspectDeps,
  type Selection,
} from './inspect.ts'
import { REPAIRS, type RepairCounts, type RepairDeps } from './kind.ts'
import { waitUntilCaughtUp } from './wait-until-fewer.ts'
import { MAX_PENDING, waitUntilRepaired, withShipper } from './with-shipper.ts'

export interface VerifyDeps extends Omit<InspectDeps, 'repair'>, RepairDeps {
  /** How long ClickHouse may be away each time before the command ends. */
  waitMs: number
}

/** `differences` also has the described differences of contacts and visitors. `repaired` is null without `repair`. */
export type VerifyResult = Omit<Findings, 'different' | 'unstable' | 'again'> & { repaired: RepairCounts | null }

export interface VerifyOptions {
  /** The businesses to compare. Default: all. */
  businessIds?: string[]
  repair: boolean
}

/** Maximum number of repair rounds. Another round follows only if the last one reduced the differences. */
const ROUNDS = 3

/**
 * Compares the stores, and with `repair` corrects what it can. A repair corrects Postgres itself, and requests changes
 * of ClickHouse from the shipper. It takes no lock for which others would wait, and can be stopped at any point.
 */
export async function verify(given: VerifyDeps, { businessIds, repair }: VerifyOptions): Promise<VerifyResult> {
  const deps = { ...given, clickhouse: awaitClickHouse(given) }
  const missing = await findMissingTables(deps.clickhouse)
  if (missing.length > 0 && !repair) {
    const findings = emptyFindings()
    addDifferences(deps, findings, missing)
    return { ...findings, repaired: null }
  }
  if (missing.length > 0) await repeatClickHouse(deps.clickhouse)
  const selection = { businesses: businessIds ?? (await listBusinesses(deps.sql)), areAll: businessIds === undefined }
  if (!repair) {
    await waitUntilCaughtUp(deps)
    return await conclude(deps, await inspectAll(deps, selection), null)
  }
  // The shipper has its own way to wait.
  return await withShipper(given, async () => {
    await waitUntilCaughtUp(deps)
    // Finishes the requests of an earlier, killed repair first, because waiting contacts cannot be compared.
    await waitUntilRepaired(deps, 0)
    const requested = Object.fromEntries(Object.keys(REPAIRS).map((name) => [name, 0])) as RepairCounts
    const findings = await repairAll(deps, selection, requested)
    return await conclude(deps, findings, { ...requested, tables: missing.length })
  })
}

async function conclude(deps: VerifyDeps, findings: Findings, repaired: RepairCounts | null): Promise<VerifyResult> {
  const { different, unstable: _, again: __, ...result } = findings
  const differences = [...(await describeDifferences(deps, different)), ...findings.differences]
  return { ...result, differences, repaired }
}

async function repairAll(deps: VerifyDeps, selection: Selection, requested: RepairCounts): Promise<Findings> {
  const repair: Required<InspectDeps>['repair'] = async (work) => {
    for (const [name, count] of Object.entries(await work(deps))) requested[name as keyof RepairCounts] += count
  }
  const total = () => Object.values(requested).reduce((sum, count) => sum + count, 0)
  let findings = await inspectAll({ ...deps, repair }, selection)
  for (let round = 0; round < ROUNDS && countOf(findings) > 0 && !deps.signal.aborted; round += 1) {
    const before = findings
    await repair(() => resendEvents(deps, before))
    await waitUntilRepaired(deps, 0)
    const requestedBefore = total()
    findings = await inspectDifferent({ ...deps, repair }, before, selection)
    // A contact that has just become stable may differ, and no repair has been requested for it yet.
    if (findings.notCompared < before.notCompared) continue
    if (total() === requestedBefore) break
    // The findings do not include the repairs that were just requested.
    await waitUntilRepaired(deps, 0)
    findings = await inspectDifferent(deps, findings, selection)
    if (countOf(findings) >= countOf(before)) break
  }
  return findings
}

/** Returns the number of findings that are not known to agree. */
const countOf = ({ found, notCompared, again }: Findings): number =>
  Object.values(found).reduce((sum, count) => sum + count, notCompared + again.length)

/** Inspects only what differed before, unless that was more than could be kept. */
async function inspectDifferent(deps: InspectDeps, before: Findings, selection: Selection): Promise<Findings> {
  const isAllKept = before.differing === before.different.length && before.notCompared === before.unstable.length
  return isAllKept ? await inspectAgain(deps, before) : await inspectAll(deps, selection)
}

/**
 * Ships rows of the outbox again whose events ClickHouse lacks. Walks once through the outbox, for the contacts that
 * differ, or for all contacts when too many differ to be kept.
 */
async function resendEvents(deps: RepairDeps, findings: Findings): Promise<Partial<RepairCounts>> {
  const lacking = findings.different.filter((one) => one.isKnown && isRepairedBy('outbox', one))
  const isAll = findings.differing > findings.different.length
  if (lacking.length === 0 && !isAll) return {}
  const contacts = isAll ? undefined : [...(await withMergedIds(deps.sql, lacking)).keys()]
  let saves = 0
  for await (const rows of findInOutbox(deps, contacts)) {
    const ids = rows.filter((row) => row.lacking.length > 0).map(({ id }) => id)
    if (ids.length > 0) {
      const { count } = await deps.writer`
        update outbox set shipped_at = null, group_id = null, resend = '{}'
        where id in (select json_array_elements_text(${JSON.stringify(ids)}::text::json)::bigint) and shipped_at is not null`
      saves += count
    }
    await waitUntilRepaired(deps, MAX_PENDING)
  }
  return { saves }
}
