/**
 * For each rule, ClickHouse must find the contacts that are members in Postgres. `check-members.ts` compares the
 * members of rules on facts with the facts, so a difference in such a rule means that the stores differ, or the two
 * interpreters of rules. In rules that count or sum events of the timeline, it means that the members are wrong.
 * Excludes rules that are being computed.
 */
import { loadBusinesses } from '../../contacts/load/load-businesses.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import type { FieldType } from '../../rules/events/facts.ts'
import type { ResolvedRule } from '../../rules/segments/rule.ts'
import { COMPILED_SETTINGS, compileToClickHouse } from '../../segments/compile-to-clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { quoted } from '../../outbox/look-up-events.ts'
import { requestResync } from '../../timeline/resync/request-resync.ts'
import { compareMembers } from './compare-members.ts'
import type { BusinessKind, CompareDeps, RepairDeps } from './kind.ts'
import { confirmDifferences } from './confirm-differences.ts'
import { queryClickHouse } from './query-clickhouse.ts'

export interface DifferentAnswer {
  contactId: string
  segmentId: string
  /** Whether it is a member in Postgres. ClickHouse finds the opposite. */
  isMember: boolean
  isWindowed: boolean
}

/** Number of ids to compare at once. */
const PAGE = 100_000
/** Limit per rule. A repair finds further differences in its next round. */
const MAX_DIFFERENCES = 1000
const PATIENCE = { sightings: 3, attempts: 8, pauseMs: 300 }
const FIRST = '00000000-0000-0000-0000-000000000000'
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const PART = 'segment answers'

export const SEGMENT_ANSWERS: BusinessKind<DifferentAnswer> = {
  name: 'answer of ClickHouse',
  values: 'both',
  part: PART,
  async *find(deps, businessId) {
    for (const rule of await listRules(deps, businessId)) {
      if (deps.signal.aborted) return
      deps.showStatus(`asking ClickHouse for the members of segment ${rule.segmentId}`)
      const { confirmed, open } = await confirmDifferences(deps.signal, PATIENCE, (left) =>
        compareRule(deps, rule, left),
      )
      yield { items: confirmed, changing: open.length }
    }
  },
  describe: ({ contactId, segmentId, isMember, isWindowed }) => ({
    contactId,
    segmentId,
    name: `of segment ${segmentId}`,
    postgres: textOf(isMember),
    clickhouse: textOf(!isMember),
    note: isWindowed
      ? 'the segment worker has to read the timeline again'
      : 'the stores differ in what the rule reads, or in how they read the rule',
    wrong: isWindowed ? 'postgres' : 'clickhouse',
  }),
  repair,
}

const textOf = (isMember: boolean): string => (isMember ? 'a member' : 'not a member')

interface RuleInForce {
  businessId: string
  segmentId: string
  no: number
  rule: ResolvedRule
  isWindowed: boolean
  fields: ReadonlyMap<string, FieldType>
}

async function listRules({ sql }: CompareDeps, businessId: string): Promise<RuleInForce[]> {
  const [business] = await loadBusinesses(sql, new Map(), [businessId])
  if (!business?.segments) return []
  const { fields, segments } = business
  const rows = await sql<{ no: number }[]>`
    select no from segment_rules where business_id = ${businessId} and state = 'current' and switched_at is null`
  const inForce = new Set(rows.map(({ no }) => no))
  return business.segmentRules.flatMap(({ no, segmentId, rule }) => {
    const compiled = segments.byNumber.get(no)
    return compiled && inForce.has(no)
      ? [{ businessId, segmentId, no, rule, isWindowed: compiled.isWindowed, fields }]
      : []
  })
}

/** @param left contacts that differed or changed in the last comparison; undefined for all */
async function compareRule(deps: CompareDeps, rule: RuleInForce, left: string[] | undefined) {
  const candidates = await keepLiving(
    deps.sql,
    rule,
    left ? await compareIds(deps, rule, left) : await compareAll(deps, rule),
  )
  const unstable = await findUnstable(deps.sql, rule, [...candidates.keys()])
  const differing = [...candidates].filter(([id]) => !unstable.has(id))
  const { businessId, segmentId, isWindowed } = rule
  // Members that are wrong by the facts in Postgres are reported as another kind of difference.
  const judged = isWindowed
    ? { wrong: [], changed: [], due: [] }
    : await compareMembers(deps.sql, businessId, [...candidates.keys()])
  const isWrong = new Set(judged.wrong.map(({ contactId }) => contactId))
  for (const id of [...judged.changed, ...judged.due]) unstable.add(id)
  return {
    differing: differing
      .filter(([id]) => !isWrong.has(id) && !unstable.has(id))
      .map(([contactId, isMember]): [string, DifferentAnswer] => [
        contactId,
        { contactId, segmentId, isMember, isWindowed },
      ]),
    unstable: [...unstable],
  }
}

/** Contacts in which the two stores differ, and whether each is a member in Postgres. */
type Candidates = Map<string, boolean>

async function compareAll(deps: CompareDeps, rule: RuleInForce): Promise<Candidates> {
  const found: Candidates = new Map()
  for (let after: string | null = FIRST; after !== null && found.size < MAX_DIFFERENCES && !deps.signal.aborted;) {
    const answers = await askClickHouse(deps, rule, `where id > '${after}' order by id limit ${PAGE}`)
    const members = await listMembers(deps.sql, rule, after)
    const full = [answers, members].filter(({ length }) => length === PAGE)
    const upTo = full.map((ids) => ids.at(-1)!).toSorted()[0]
    addDifferences(found, answers, members, upTo ?? LAST)
    after = upTo ?? null
  }
  return new Map([...found].slice(0, MAX_DIFFERENCES))
}

async function compareIds(deps: CompareDeps, rule: RuleInForce, ids: string[]): Promise<Candidates> {
  const found: Candidates = new Map()
  const answers = await askClickHouse(deps, rule, `where id in (${quoted(ids)})`)
  addDifferences(found, answers, await listMembersAmong(deps.sql, rule, ids), LAST)
  return found
}

function addDifferences(found: Candidates, answers: string[], members: string[], upTo: string): void {
  const [inClickHouse, inPostgres] = [new Set(answers), new Set(members)]
  for (const id of answers) if (id <= upTo && !inPostgres.has(id)) found.set(id, false)
  for (const id of members) if (id <= upTo && !inClickHouse.has(id)) found.set(id, true)
}

/** Excludes merged and erased contacts, which other kinds compare. */
async function keepLiving(sql: Sql, { businessId }: RuleInForce, candidates: Candidates): Promise<Candidates> {
  const rows = await sql<{ id: string }[]>`
    select id from contacts
    where business_id = ${businessId} and id = any (${arrayLiteral([...candidates.keys()])}::text::uuid[])
      and merged_into is null`
  const living = new Set(rows.map(({ id }) => id))
  return new Map([...candidates].filter(([id]) => living.has(id)))
}

async function askClickHouse({ clickhouse }: CompareDeps, rule: RuleInForce, rest: string): Promise<string[]> {
  const matching = compileToClickHouse(rule.rule, { ...rule, now: Date.now() })
  const rows = await queryClickHouse<{ id: string }>(
    clickhouse,
    `select id from (select toString(contact_id) as id from (${matching})) ${rest}`,
    COMPILED_SETTINGS,
  )
  return rows.map(({ id }) => id)
}

async function listMembers(sql: Sql, { businessId, no }: RuleInForce, after: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select contact_id as id from segment_members
    where business_id = ${businessId} and segment_no = ${no} and cause <> '' and contact_id > ${after}
    order by contact_id limit ${PAGE}`
  return rows.map(({ id }) => id)
}

async function listMembersAmong(sql: Sql, { businessId, no }: RuleInForce, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select contact_id as id from segment_members
    where business_id = ${businessId} and segment_no = ${no} and contact_id = any (${arrayLiteral(ids)}::text::uuid[])`
  return rows.map(({ id }) => id)
}

/**
 * Returns contacts that ClickHouse does not have completely yet, or that wait for the segment worker; all of them when
 * the rule is no longer in force.
 */
async function findUnstable(sql: Sql, { businessId, no }: RuleInForce, ids: string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    with wanted as (select unnest(${arrayLiteral(ids)}::text::uuid[]) as id), waiting as (
      select distinct t.id from outbox o cross join unnest(o.contact_ids) as t (id) join wanted on wanted.id = t.id
      where o.shipped_at is null
    )
    select w.id from wanted w
    where exists (select from waiting where waiting.id = w.id)
      or exists (select from segment_window_refreshes r where r.business_id = ${businessId} and r.contact_id = w.id)
      or exists (
        select from segment_windows s
        where s.business_id = ${businessId} and s.contact_id = w.id and s.next_at <= ${Date.now()}
      )
      or not exists (
        select from segment_rules r
        where r.business_id = ${businessId} and r.no = ${no} and r.state = 'current' and r.switched_at is null
      )`
  return new Set(rows.map(({ id }) => id))
}

/**
 * For rules on facts, requests that the state of the contacts is sent to ClickHouse again. For the others, makes the
 * segment worker read the contacts again.
 */
async function repair({ writer }: RepairDeps, businessId: string, items: DifferentAnswer[]) {
  const idsOf = (isWindowed: boolean) => [
    ...new Set(items.filter((one) => one.isWindowed === isWindowed).map(({ contactId }) => contactId)),
  ]
  const windowed = idsOf(true)
  const { count } = await writer`
    insert into segment_window_refreshes (business_id, contact_id, outbox_id, received_at, cause)
    select ${businessId}, c.id, 0, ${Date.now()}, 'bulk' from contacts c
    where c.business_id = ${businessId} and c.id = any (${arrayLiteral(windowed)}::text::uuid[]) and c.merged_into is null
    order by c.id for key share
    on conflict do nothing`
  const sent = idsOf(false)
  return { members: count, contacts: sent.length > 0 ? await requestResync(writer, businessId, sent) : 0 }
}
