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
  /** Contacts, or visitors, that are compared at once, at most. */
  sliceSize: number
  /** Of very many that differ only so many are kept in memory. */
  mostKept: number
  /** Contacts compared since the last call. */
  advance(contacts: number): void
  /** Sees what was found of some contacts, or visitors, as soon as it was. */
  onDifferent(of: Subject, businessId: string, different: Different[]): Promise<void>
  /** Called with idempotency keys that Postgres lacks, as soon as they are found. */
  onMissingKeys(businessId: string, missing: MissingKey[]): Promise<void>
}

/** What an inspection found. */
export interface Findings {
  businesses: number
  contacts: number
  visitors: number
  /** Those that could not be compared; how many they are, kept or not; and how many of them are stuck. */
  unstable: Unstable[]
  notCompared: number
  stuck: number
  different: Different[]
  /** Contacts and visitors that differ, kept or not; and how often they do, by kind. */
  differing: number
  kinds: Map<DifferenceKind, number>
  /** Idempotency keys that Postgres lacks, and the first of them. */
  missingKeys: { count: number; first: Difference[] }
  others: Difference[]
  uncompared: Uncompared[]
}

/** What of a business could not be compared, and why. */
export interface Uncompared {
  businessId: string
  what: string
  reason: string
}

export interface Chosen {
  businesses: string[]
  areAll: boolean
}

/** Everything there is to compare, of these businesses. */
export async function inspectAll(deps: InspectDeps, { businesses, areAll }: Chosen): Promise<Findings> {
  const findings = nothingFound()
  for (const businessId of businesses) {
    await unlessTooLong(findings, businessId, CONTACTS, () => takeContacts(deps, findings, businessId))
    await unlessTooLong(findings, businessId, VISITORS, () => takeVisitors(deps, findings, businessId))
    await unlessTooLong(findings, businessId, KEYS, () => takeKeys(deps, findings, businessId))
    await takeWhole(deps, findings, businessId)
    findings.businesses += 1
    if (deps.signal.aborted) return findings
  }
  if (areAll) findings.others.push(...(await checkBusinesses(deps)))
  findings.others.push(...(await checkStreams(deps)))
  return findings
}

/** Only what an earlier inspection found apart or could not compare, of those that it kept. */
export async function inspectAgain(deps: InspectDeps, before: Findings): Promise<Findings> {
  const { businesses, contacts, visitors } = before
  const findings = { ...nothingFound(), businesses, contacts, visitors }
  const whole = before.others.filter(({ kind }) => isOfBusiness(kind))
  const left = Map.groupBy(before.uncompared, ({ what }) => [CONTACTS, VISITORS, KEYS].includes(what))
  const ids = new Set([...whole, ...(left.get(false) ?? [])].flatMap(({ businessId }) => businessId ?? []))
  const ofEach = Map.groupBy([...before.different, ...before.unstable], ({ of, businessId }) => `${of} ${businessId}`)
  for (const some of ofEach.values()) {
    const { of, businessId } = some[0]!
    const comparison = await compareOneByOne(
      deps,
      of,
      businessId,
      some.map(({ id }) => id),
    )
    await take(deps, findings, comparison)
  }
  const lacking = new Set(before.missingKeys.first.flatMap(({ businessId }) => businessId ?? []))
  for (const businessId of lacking)
    await unlessTooLong(findings, businessId, KEYS, () => takeKeys(deps, findings, businessId))
  for (const businessId of ids) await takeWhole(deps, findings, businessId)
  findings.uncompared.push(...(left.get(true) ?? []))
  findings.others.push(...before.others.filter(({ kind }) => !isOfBusiness(kind)))
  return findings
}

const isOfBusiness = (kind: Difference['kind']): boolean => kind === 'erasure' || kind === 'view'

async function takeContacts(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  for await (const { contacts, broken, ...comparison } of compareBusiness(deps, businessId, deps.sliceSize)) {
    findings.contacts += contacts
    findings.others.push(...broken)
    await take(deps, findings, comparison)
    deps.advance(contacts)
  }
}

async function takeVisitors(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  for await (const { visitors, ...comparison } of compareVisitors(deps, businessId, deps.sliceSize)) {
    findings.visitors += visitors
    await take(deps, findings, comparison)
    deps.say('comparing visitors')
  }
}

async function takeKeys(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  for await (const missing of findMissingKeys(deps, businessId)) {
    const { first } = findings.missingKeys
    findings.missingKeys.count += missing.length
    first.push(...missing.slice(0, deps.mostKept - first.length).map((key) => describeKey(businessId, key)))
    if (missing.length > 0) await deps.onMissingKeys(businessId, missing)
    deps.say('comparing idempotency keys')
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

async function takeWhole(deps: InspectDeps, findings: Findings, businessId: string): Promise<void> {
  await unlessTooLong(findings, businessId, 'erasures', async () => {
    for await (const page of checkErasures(deps, businessId)) findings.others.push(...page)
  })
  await unlessTooLong(findings, businessId, 'views', async () => {
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

/** A business that is too large for a statement's time is told of, and the others are compared all the same. */
async function unlessTooLong(
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

const nothingFound = (): Findings => ({
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

async function take(deps: InspectDeps, findings: Findings, { different, unstable }: Comparison): Promise<void> {
  findings.unstable.push(...unstable.slice(0, deps.mostKept - findings.unstable.length))
  findings.notCompared += unstable.length
  findings.stuck += unstable.filter(({ isStuck }) => isStuck).length
  findings.differing += different.length
  for (const { kind } of different.flatMap(({ facts }) => facts))
    findings.kinds.set(kind, (findings.kinds.get(kind) ?? 0) + 1)
  findings.different.push(...different.slice(0, deps.mostKept - findings.different.length))
  const [first] = different
  if (first) await deps.onDifferent(first.of, first.businessId, different)
}
