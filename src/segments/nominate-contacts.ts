/**
 * The contacts that a pass over a business has to look at: ClickHouse nominates them, and Postgres decides each. Everybody of whom a
 * rule that is being built is true, or will be by time alone, is among them.
 *
 * What ClickHouse has of a contact may be a mixture of older and newer states while rows of the outbox are under way. So everybody is
 * added whom a row names that was not shipped yet when ClickHouse was asked. Of all others ClickHouse has what Postgres had when the
 * pass began, and what they do afterwards is the saves' business: they evaluate the rules, too.
 */
import type { BusinessState } from '../rules/state.ts'
import { possibleRule } from '../rules/segments/possible-rule.ts'
import { factConditionsOf } from '../rules/segments/reads-of.ts'
import type { ResolvedRule } from '../rules/segments/rule.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'
import { COMPILED_SETTINGS, compileToClickHouse } from './compile-to-clickhouse.ts'
import type { WindowDeps } from './segment-deps.ts'

export interface Nominated {
  /** Ids of contacts, sorted; merged ones are looked at as their survivors. */
  ids: string[]
  /** Up to this contact; null: of all that follow. */
  upTo: string | null
  /** How many of them ClickHouse named. */
  named: number
}

/** Items are decided at most 7 days after their receipt, as of that: what was true by time then counts. A day more than that. */
const BACK_MS = 8 * 86_400_000
/** A larger query costs ClickHouse more than it saves. */
const MAX_CONDITIONS = 100
const LIMITS = { max_execution_time: 20, max_memory_usage: String(1024 ** 3), max_threads: 2 }
const PATIENCE_MS = 25_000

/** A rule that is true of everybody of whom one of those that are being built may be; null when it is too large. */
export function ruleToNominate({ segmentRules }: BusinessState, now: number): ResolvedRule | null {
  const rules = segmentRules.flatMap(({ isBuilding, rule }) => (isBuilding ? [rule] : []))
  if (rules.length === 0 || rules.flatMap(factConditionsOf).length > MAX_CONDITIONS) return null
  return { any: rules.map((rule) => possibleRule(rule, now - BACK_MS)) }
}

interface NominationQuery {
  business: BusinessState
  rule: ResolvedRule
  /** Contacts after this one; null: all. */
  after: string | null
  /** Ids in an answer, at most; and as many of contacts that are on their way to ClickHouse. */
  pieceSize: number
}

/**
 * The first of a pass, and how many ClickHouse has to name in all. Null when they are no small part of the business, ClickHouse is known
 * to lack something of it, or too many are on their way.
 */
export async function nominateFirst(
  deps: WindowDeps,
  asked: NominationQuery,
  mostShare: number,
  signal: AbortSignal,
): Promise<(Nominated & { count: number }) | null> {
  const { sql } = deps
  const { id } = asked.business
  const [row] = await sql<[{ contacts: number; isIncomplete: boolean }]>`
    select (select count(*) from contacts where business_id = ${id}) as contacts, ${incompleteSql(deps, id)} as "isIncomplete"`
  const nominated = row.isIncomplete ? null : await nominateContacts(deps, asked, signal)
  if (!nominated) return null
  // A rule of few asks ClickHouse for them once.
  const count = nominated.upTo === null ? nominated.named : await countIn(deps, nominatedSql(deps, asked), signal)
  if (count > row.contacts * mostShare) return null
  // A ClickHouse that was lost, and has not got everything back.
  const all = `select 1 from contact_snapshots final where business_id = ${textLiteral(id)} and erased = 0`
  const known = await countIn(deps, all, signal)
  const touched = await listTouched(deps, { ...asked, after: null }, { since: null, upTo: null })
  return touched === null || known + touched.length < row.contacts ? null : { ...nominated, count }
}

/** The next of them; null when ClickHouse is known to lack something, or more are on their way to it than a piece may have. */
export async function nominateContacts(
  deps: WindowDeps,
  asked: NominationQuery,
  signal: AbortSignal,
): Promise<Nominated | null> {
  const [{ since }] = await deps.sql<[{ since: string }]>`select clock_timestamp()::text as since`
  const found = await query<{ id: string }>(
    deps,
    `select toString(contact_id) as id from (${nominatedSql(deps, asked)}) order by id limit ${asked.pieceSize}`,
    signal,
  )
  const upTo = found.length < asked.pieceSize ? null : found.at(-1)!.id
  // First: what ClickHouse lacked until now is corrected by a row, and that is among those that were touched.
  if (await isLacking(deps, asked.business.id)) return null
  const touched = await listTouched(deps, asked, { since, upTo })
  if (touched === null) return null
  return { ids: [...new Set([...found.map(({ id }) => id), ...touched])].sort(), upTo, named: found.length }
}

function nominatedSql({ now }: WindowDeps, { business, rule, after }: NominationQuery): string {
  const matching = compileToClickHouse(rule, { businessId: business.id, fields: business.fields, now: now() })
  return `select contact_id from (${matching})${after === null ? '' : ` where toString(contact_id) > ${textLiteral(after)}`}`
}

async function countIn(deps: WindowDeps, rows: string, signal: AbortSignal): Promise<number> {
  const [found] = await query<{ count: number }>(deps, `select count() as count from (${rows})`, signal)
  return found!.count
}

async function query<Row>({ clickhouse }: WindowDeps, text: string, signal: AbortSignal): Promise<Row[]> {
  const result = await clickhouse.query({
    query: text,
    format: 'JSONEachRow',
    clickhouse_settings: { ...COMPILED_SETTINGS, ...LIMITS, output_format_json_quote_64bit_integers: 0 },
    abort_signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
  })
  return await result.json<Row>()
}

/**
 * Contacts of the rows of the outbox that ClickHouse may not have had at `since`, and the survivors of those that are merged. Null when
 * there are too many.
 */
async function listTouched(
  { sql }: WindowDeps,
  { business: { id }, after, pieceSize }: NominationQuery,
  { since, upTo }: { since: string | null; upTo: string | null },
): Promise<string[] | null> {
  const rows = await sql<{ id: string }[]>`
    with under_way as materialized (
      select business_ids, contact_ids from outbox where shipped_at is null and ${id}::uuid = any (business_ids)
      union all
      select business_ids, contact_ids from outbox
      where shipped_at >= ${since}::text::timestamptz and ${id}::uuid = any (business_ids)
    ), touched as materialized (
      select distinct named.contact_id as id from under_way
      cross join lateral unnest(under_way.business_ids, under_way.contact_ids) as named (business_id, contact_id)
      where named.business_id = ${id}
    ), people as (
      select id from touched
      union
      select c.merged_into from touched cross join lateral (
        select merged_into from contacts c where c.business_id = ${id} and c.id = touched.id limit 1
      ) c
      where c.merged_into is not null
    )
    select id from people
    where (${after}::text::uuid is null or id > ${after}::text::uuid) and (${upTo}::text::uuid is null or id <= ${upTo}::text::uuid)
    limit ${pieceSize + 1}`
  return rows.length > pieceSize ? null : rows.map((row) => row.id)
}

async function isLacking(deps: WindowDeps, businessId: string): Promise<boolean> {
  const [row] = await deps.sql<[{ isLacking: boolean }]>`select ${incompleteSql(deps, businessId)} as "isLacking"`
  return row.isLacking
}

/**
 * ClickHouse is being corrected, or could not read an event of the business. The rows that correct it wait, or are in the group that is
 * under way: each has an index of its own, and what else waits is not read.
 */
export const incompleteSql = ({ sql }: Pick<WindowDeps, 'sql'>, businessId: string) => sql`(
  exists (select from outbox where shipped_at is null and group_id is null and resend is not null)
  or exists (select from outbox where shipped_at is null and group_id is not null and resend is not null)
  or exists (select from dead_letters where business_id = ${businessId} and kind = 'timeline')
)`
