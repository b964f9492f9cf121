import type { Redis } from '../../stores/redis.ts'
import { checkErasures } from './check-erasures.ts'
import { type MissingKey, findMissingKeys } from './check-keys.ts'
import { checkStreams } from './check-streams.ts'
import { checkBusinesses } from './check-tables.ts'
import { checkViews } from './check-views.ts'
import { compareBusiness } from './compare-business.ts'
import {
  compareOneByOne,
  type CompareDeps,
  type Comparison,
  type Different,
  type Unstable,
} from './compare-one-by-one.ts'
import { compareVisitors } from './compare-visitors.ts'
import type { Difference, DifferenceKind } from './difference.ts'
import type { Subject } from './facts.ts'
import { isTimeout } from './is-timeout.ts'
import { describeFault } from '../../stores/insert-lines.ts'

export interface InspectDeps extends CompareDeps {
  redis: Redis
  /** The most contacts, or visitors, that are compared at once. */
  sliceSize: number
  /** The most differing contacts and visitors that are kept in memory. */
  maxKept: number
  /** Reports the number of contacts that were compared since the last call. */
  advance(contacts: number): void
  /** Called with contacts, or visitors, that differ, as soon as they are found. */
  onDifferent(subject: Subject, businessId: string, different: Different[]): Promise<void>
  /** Called with idempotency keys that Postgres lacks, as soon as they are found. */
  onMissingKeys(businessId: string, missing: MissingKey[]): Promise<void>
}

/** The result of an inspection. */
export interface Findings {
  businesses: number
  contacts: number
  visitors: number
  /** Those that could not be compared: the first `maxKept` of them, the number of all, and the number of stuck ones. */
  unstable: Unstable[]
  notCompared: number
  stuck: number
  different: Different[]
  /** The number of contacts and visitors that differ, kept or not, and of their differences by kind. */
  differing: number
  kinds: Map<DifferenceKind, number>
  /** Idempotency keys that Postgres lacks, and the first of them. */
  missingKeys: { count: number; first: Difference[] }
  others: Difference[]
  uncompared: Uncompared[]
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

/** Compares everything of these businesses. */
export async function inspectAll(deps: InspectDeps, { businesses, areAll }: Selection): Promise<Findings> {
  const findings = emptyFindings()
  for (const businessId of businesses) {
    await unlessTimedOut(findings, businessId, CONTACTS, () => inspectContacts(deps, findings, businessId))
    await unlessTimedOut(findings, businessId, VISITORS, () => inspectVisitors(deps, findings, businessId))
    await unlessTimedOut(findings, businessId, KEYS, () => inspectKeys(deps, findings, businessId))
    await inspectErasuresAndViews(deps, findings, businessId)
    findings.businesses += 1
    if (deps.signal.aborted) return findings
  }
  if (areAll) findings.others.push(...(await checkBusinesses(deps)))
  findings.others.push(...(await checkStreams(deps)))
  return findings
}

/** Compares only what an earlier inspection found to differ, or could not compare, and kept. */
export async function inspectAgain(deps: InspectDeps, before: Findings): Promise<Findings> {
  const { businesses, contacts, visitors } = before
  const findings = { ...emptyFindings(), businesses, contacts, visitors }
  const whole = before.others.filter(({ kind }) => isOfBusiness(kind))
  const left = Map.groupBy(before.uncompared, ({ what }) => [CONTACTS, VISITORS, KEYS].includes(what))
  const ids = new Set([...whole, ...(left.get(false) ?? [])].flatMap(({ businessId }) => businessId ?? []))
  const ofEach = Map.groupBy(
    [...before.different, ...before.unstable],
    ({ subject, businessId }) => `${subject} ${businessId}`,
  )
  for (const some of ofEach.values()) {
    const { subject, businessId } = some[0]!
    const comparison = await compareOneByOne(
      deps,
      subject,
      businessId,
      some.map(({ id }) => id),
    )
    await addComparison(deps, findings, comparison)
  }
  const lacking = new Set(before.missingKeys.first.flatMap(({ businessId }) => businessId ?? []))
  for (const businessId of lacking)
    await unlessTimedOut(findings, businessId, KEYS, () => inspectKeys(deps, findings, businessId))
  for (const businessId of ids) await inspectErasuresAndViews(deps, findings, businessId)
  findings.uncompared.push(...(left.get(true) ?? []))
  findings.others.push(...before.others.filter(({ kind }) => !isOfBusiness(kind)))
  return findings
}

const isOfBusiness = (kind: Difference['kind']): boolean => kind === 'erasure' || kind === 'view'

async function inspectContacts(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  for await (const { contacts, broken, ...comparison } of compareBusiness(deps, businessId, deps.sliceSize)) {
    findings.contacts += contacts
    findings.others.push(...broken)
    await addComparison(deps, findings, comparison)
    deps.advance(contacts)
  }
}

async function inspectVisitors(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  for await (const { visitors, ...comparison } of compareVisitors(deps, businessId, deps.sliceSize)) {
    findings.visitors += visitors
    await addComparison(deps, findings, comparison)
    deps.showStatus('comparing visitors')
  }
}

async function inspectKeys(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  for await (const missing of findMissingKeys(deps, businessId)) {
    const { first } = findings.missingKeys
    findings.missingKeys.count += missing.length
    first.push(...missing.slice(0, deps.maxKept - first.length).map((key) => describeKey(businessId, key)))
    if (missing.length > 0) await deps.onMissingKeys(businessId, missing)
    deps.showStatus('comparing idempotency keys')
  }
}

const describeKey = (businessId: string, { contactId, eventId }: MissingKey): Difference => ({
  kind: 'key',
  businessId,
  contactId,
  name: `of event ${eventId}`,
  postgres: null,
  clickhouse: 'recorded',
  note: 'Postgres is wrong: a repeat of this event would be recorded again',
  wrong: 'postgres',
})

async function inspectErasuresAndViews(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  await unlessTimedOut(findings, businessId, 'erasures', async () => {
    for await (const page of checkErasures(deps, businessId)) findings.others.push(...page)
  })
  await unlessTimedOut(findings, businessId, 'views', async () => {
    const { differences, unstable } = await checkViews(deps, businessId)
    findings.others.push(...differences)
    findings.uncompared.push(
      ...unstable.map((name) => ({ businessId, what: `view ${name}`, reason: 'its tables changed all the time' })),
    )
  })
}

const CONTACTS = 'contacts'
const KEYS = 'idempotency keys'
const VISITORS = 'visitors'

/** Reports a part of a business that takes too long for a statement, and continues with the rest. */
async function unlessTimedOut(
  { uncompared }: Findings,
  businessId: string,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isTimeout(error)) throw error
    uncompared.push({ businessId, what, reason: describeFault(error) })
  }
}

const emptyFindings = (): Findings => ({
  businesses: 0,
  contacts: 0,
  visitors: 0,
  unstable: [],
  notCompared: 0,
  stuck: 0,
  different: [],
  differing: 0,
  kinds: new Map(),
  missingKeys: { count: 0, first: [] },
  others: [],
  uncompared: [],
})

async function addComparison(
  deps: InspectDeps,
  findings: Findings,
  { different, unstable }: Comparison,
): Promise<void> {
  findings.unstable.push(...unstable.slice(0, deps.maxKept - findings.unstable.length))
  findings.notCompared += unstable.length
  findings.stuck += unstable.filter(({ isStuck }) => isStuck).length
  findings.differing += different.length
  for (const { kind } of different.flatMap(({ facts }) => facts))
    findings.kinds.set(kind, (findings.kinds.get(kind) ?? 0) + 1)
  findings.different.push(...different.slice(0, deps.maxKept - findings.different.length))
  const [first] = different
  if (first) await deps.onDifferent(first.subject, first.businessId, different)
}
