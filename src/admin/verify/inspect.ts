/** Searches for differences of all kinds, and adds up the findings. */
import type { Redis } from '../../stores/redis.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import { compareOneByOne, type Comparison, type Unstable } from './compare-one-by-one.ts'
import { compareSlices } from './compare-slices.ts'
import { findClickHouseAhead } from './find-ahead.ts'
import {
  type BusinessKind,
  type CompareDeps,
  type Difference,
  type Different,
  differenceOf,
  type RepairCounts,
  type RepairDeps,
  type SubjectName,
} from './kind.ts'
import { BUSINESS_KINDS, FACT_KINDS, SUBJECTS, SYSTEM_KINDS } from './kinds.ts'
import { confirmDifferences } from './confirm-differences.ts'
import { isTimeout } from './query-clickhouse.ts'
import { MAX_PENDING, waitUntilRepaired } from './with-shipper.ts'

export interface InspectDeps extends CompareDeps {
  redis: Redis
  /** Maximum number of contacts, or visitors, to compare at once. */
  sliceSize: number
  /** Maximum number of differing contacts and visitors, and of other differences, to keep in memory. */
  maxKept: number
  /** Reports the number of contacts that were compared since the last call. */
  advance(contacts: number): void
  /** Repairs the differences that were just found. Without it, nothing is repaired. */
  repair?(work: (deps: RepairDeps) => Promise<Partial<RepairCounts>>): Promise<void>
}

export interface Findings {
  businesses: number
  contacts: number
  visitors: number
  /**
   * Number of contacts and visitors that changed, or waited for the shipper, in every comparison. `stuck`: those that
   * only waited.
   */
  notCompared: number
  stuck: number
  /** Number of contacts and visitors that differ. */
  differing: number
  /** Number of differences by kind. */
  found: Record<string, number>
  /** The first `maxKept` differences that are not of contacts or visitors. */
  differences: Difference[]
  /** Parts that could not be compared, such as tables that kept changing, or a business too large for a statement. */
  uncompared: Uncompared[]
  /** The first `maxKept` contacts and visitors that differ, and those that could not be compared. */
  different: Different[]
  unstable: Unstable[]
  /** Other parts with findings that may be repaired, or that could not be compared. */
  again: Task[]
}

/** A part of a business that could not be compared, and the reason. */
export interface Uncompared {
  businessId: string
  what: string
  reason: string
}

export interface Selection {
  businesses: string[]
  areAll: boolean
}

/** One part of a business to inspect, or only some of its contacts or visitors. */
interface Task {
  businessId: string
  part: string
  ids?: string[]
}

type Work = (deps: InspectDeps, findings: Findings, task: Task) => Promise<void>

const partOf = (subject: SubjectName) => `${subject}s` as const

const PARTS = new Map<string, Work>([
  ...(Object.keys(SUBJECTS) as SubjectName[]).map((subject): [string, Work] => [
    partOf(subject),
    (deps, findings, task) => inspectSubject(deps, findings, subject, task),
  ]),
  ...Object.entries(BUSINESS_KINDS).map(([name, kind]): [string, Work] => [
    kind.part,
    (deps, findings, task) => inspectKind(deps, findings, name, kind, task),
  ]),
])

/** Compares everything of these businesses. */
export async function inspectAll(deps: InspectDeps, { businesses, areAll }: Selection): Promise<Findings> {
  const findings = emptyFindings()
  for (const businessId of businesses) {
    for (const part of PARTS.keys()) await inspectPart(deps, findings, { businessId, part })
    findings.businesses += 1
    if (deps.signal.aborted) return findings
  }
  for (const [name, kind] of Object.entries(SYSTEM_KINDS)) {
    if (name === 'business' && !areAll) continue
    const { sightings } = kind
    const { confirmed } = await confirmDifferences(
      deps.signal,
      { sightings, attempts: sightings, pauseMs: 200 },
      async () => ({
        differing: (await kind.find(deps)).map((one) => [JSON.stringify(one), differenceOf(name, one)]),
      }),
    )
    addDifferences(deps, findings, confirmed)
  }
  return findings
}

/** Compares only the findings that an earlier inspection kept: differences, and parts that could not be compared. */
export async function inspectAgain(deps: InspectDeps, before: Findings): Promise<Findings> {
  const { businesses, contacts, visitors } = before
  const findings = { ...emptyFindings(), businesses, contacts, visitors }
  const isRepairable = (kind: string) => kind in FACT_KINDS || kind in BUSINESS_KINDS
  findings.found = Object.fromEntries(Object.entries(before.found).filter(([kind]) => !isRepairable(kind)))
  findings.differences = before.differences.filter(({ kind }) => !isRepairable(kind))
  // A part that took too long is not tried again, unless it has found something before.
  const isOpen = ({ businessId, what }: Uncompared) =>
    before.again.some((task) => task.businessId === businessId && task.part === what)
  findings.uncompared = before.uncompared.filter((one) => PARTS.has(one.what) && !isOpen(one))
  const open = [...before.different, ...before.unstable]
  for (const some of Map.groupBy(open, ({ subject, businessId }) => `${subject} ${businessId}`).values()) {
    const [{ subject, businessId }] = some as [Unstable]
    await inspectPart(deps, findings, { businessId, part: partOf(subject), ids: some.map(({ id }) => id) })
  }
  for (const task of before.again) await inspectPart(deps, findings, task)
  return findings
}

/**
 * Inspects a part of a business. Reports a part that takes too long for a statement, so that the inspection continues
 * with the rest.
 */
async function inspectPart(deps: InspectDeps, findings: Findings, task: Task): Promise<void> {
  try {
    await PARTS.get(task.part)?.(deps, findings, task)
  } catch (error) {
    if (!isTimeout(error)) throw error
    findings.uncompared.push({ businessId: task.businessId, what: task.part, reason: describeFault(error) })
  }
}

async function inspectSubject(
  deps: InspectDeps,
  findings: Findings,
  subject: SubjectName,
  { businessId, ids }: Task,
): Promise<void> {
  if (ids) return await addComparison(deps, findings, await compareOneByOne(deps, subject, businessId, ids))
  for await (const { known, broken, ...comparison } of compareSlices(deps, subject, businessId, deps.sliceSize)) {
    findings[partOf(subject)] += known
    addDifferences(deps, findings, broken)
    await addComparison(deps, findings, comparison)
    if (subject === 'contact') deps.advance(known)
    else deps.showStatus(`comparing ${partOf(subject)}`)
  }
}

async function inspectKind(
  deps: InspectDeps,
  findings: Findings,
  name: string,
  kind: BusinessKind,
  { businessId, part }: Task,
): Promise<void> {
  let isListed = false
  for await (const { items, unstable = [], changing = 0 } of kind.find(deps, businessId)) {
    const differences = items.map((item) => differenceOf(name, { businessId, ...kind.describe(item) }))
    addDifferences(deps, findings, differences)
    findings.uncompared.push(...unstable.map((one) => ({ businessId, ...one })))
    findings.notCompared += changing
    if (!isListed && (items.length > 0 || unstable.length > 0)) {
      findings.again.push({ businessId, part })
      isListed = true
    }
    if (items.length > 0) await deps.repair?.((to) => kind.repair(to, businessId, items))
    deps.showStatus(`comparing ${part}`)
  }
}

export const emptyFindings = (): Findings => ({
  businesses: 0,
  contacts: 0,
  visitors: 0,
  notCompared: 0,
  stuck: 0,
  differing: 0,
  found: {},
  differences: [],
  uncompared: [],
  different: [],
  unstable: [],
  again: [],
})

/** Counts differences, and keeps the first ones. */
export function addDifferences(
  { maxKept }: Pick<InspectDeps, 'maxKept'>,
  { found, differences }: Findings,
  more: Difference[],
): void {
  count(found, more)
  differences.push(...more.slice(0, maxKept - differences.length))
}

function count(found: Record<string, number>, kinds: { kind: string }[]): void {
  for (const { kind } of kinds) found[kind] = (found[kind] ?? 0) + 1
}

async function addComparison(
  deps: InspectDeps,
  findings: Findings,
  { different, unstable }: Comparison,
): Promise<void> {
  findings.unstable.push(...unstable.slice(0, deps.maxKept - findings.unstable.length))
  findings.notCompared += unstable.length
  findings.stuck += unstable.filter(({ isStuck }) => isStuck).length
  findings.differing += different.length
  for (const { facts } of different) count(findings.found, facts)
  findings.different.push(...different.slice(0, deps.maxKept - findings.different.length))
  if (different.length > 0) await deps.repair?.((to) => repairSome(to, different))
}

/**
 * Requests the repairs of contacts, or visitors, of one business. Does not touch contacts of which ClickHouse is ahead,
 * because it has the only copy of the data that Postgres lost.
 */
async function repairSome(deps: RepairDeps, different: Different[]): Promise<Partial<RepairCounts>> {
  const [{ subject, businessId }] = different as [Different]
  const ahead = await findClickHouseAhead(deps, businessId, different)
  const known = different.filter(({ isKnown, id }) => isKnown && !ahead.has(id))
  const requested = await SUBJECTS[subject].repair(deps, businessId, known)
  await waitUntilRepaired(deps, MAX_PENDING)
  return requested
}
