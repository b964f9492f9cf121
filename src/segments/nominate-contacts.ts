/**
 * Finds the contacts that a pass over a business has to evaluate: ClickHouse nominates them, and Postgres decides each
 * one. Every contact for whom a rule that is being built is true, or will become true by time alone, is among them.
 *
 * While rows of the outbox are under way, ClickHouse may have a mixture of older and newer states of a contact. So
 * every contact is added that is named in a row that had not been shipped when ClickHouse was queried. For all other
 * contacts, ClickHouse has the state that Postgres had when the pass began. Later changes are evaluated by their saves,
 * which know these rules, too.
 */
import type { BusinessState } from '../rules/business-state.ts'
import { possibleRule } from '../rules/segments/compile/possible-rule.ts'
import { factConditionsOf } from '../rules/segments/membership/reads-of.ts'
import type { ResolvedRule } from '../rules/segments/rule.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'
import { COMPILED_SETTINGS, compileToClickHouse } from './compile-to-clickhouse.ts'
import type { WindowDeps } from './segment-deps.ts'

export interface Nominated {
  /** Sorted ids of contacts. Merged contacts are evaluated as their survivors. */
  ids: string[]
  /** The last contact that this answer covers. Null: it covers all that follow. */
  upTo: string | null
  /** Number of contacts that ClickHouse named. */
  named: number
}

/**
 * Items are decided up to 7 days after their receipt, as of the receipt, so a condition that was true then counts. One
 * day is added.
 */
const BACK_MS = 8 * 86_400_000
/** A larger query costs ClickHouse more than it saves. */
const MAX_CONDITIONS = 100
const LIMITS = { max_execution_time: 20, max_memory_usage: String(1024 ** 3), max_threads: 2 }
const PATIENCE_MS = 25_000

/**
 * Returns a rule that is true for every contact for whom a rule that is being built may become true. Null when it would
 * be too large.
 */
export function ruleToNominate({ segmentRules }: BusinessState, now: number): ResolvedRule | null {
  const rules = segmentRules.flatMap(({ isBuilding, rule }) => (isBuilding ? [rule] : []))
  if (rules.length === 0 || rules.flatMap(factConditionsOf).length > MAX_CONDITIONS) return null
  return { any: rules.map((rule) => possibleRule(rule, now - BACK_MS)) }
}

interface NominationQuery {
  business: BusinessState
  rule: ResolvedRule
  /** Only contacts after this one. Null: all. */
  after: string | null
  /** Maximum number of ids in an answer, and of contacts whose rows are under way. */
  pieceSize: number
}

/**
 * Returns the first contacts of a pass, and the number of contacts that ClickHouse names in all. Null when they are a
 * large part of the business, when ClickHouse is known to lack data of the business, or when too many rows are under
 * way.
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
  // When all of them fit into one answer, they need not be counted by a second query.
  const count = nominated.upTo === null ? nominated.named : await countIn(deps, nominatedSql(deps, asked), signal)
  if (count > row.contacts * mostShare) return null
  // ClickHouse may have lost its data, and not have everything back yet.
  const all = `select 1 from contact_snapshots final where business_id = ${textLiteral(id)} and erased = 0`
  const known = await countIn(deps, all, signal)
  const touched = await listTouched(deps, { ...asked, after: null }, { since: null, upTo: null })
  return touched === null || known + touched.length < row.contacts ? null : { ...nominated, count }
}

/**
 * Returns the next contacts. Null when ClickHouse is known to lack data, or when more contacts are under way than a
 * piece may have.
 */
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
  // Check this first: a row corrects what ClickHouse lacked so far, and its contact is among the touched ones.
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
 * Returns the contacts in rows of the outbox that ClickHouse may not have had at `since`, and the survivors of merged
 * ones. Null when there are too many.
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
 * True when ClickHouse is being corrected, or could not read an event of the business. The correcting rows wait, or are
 * in the group that is being shipped. Each kind has its own index, so that no other waiting rows are read.
 */
export const incompleteSql = ({ sql }: Pick<WindowDeps, 'sql'>, businessId: string) => sql`(
  exists (select from outbox where shipped_at is null and group_id is null and resend is not null)
  or exists (select from outbox where shipped_at is null and group_id is not null and resend is not null)
  or exists (select from dead_letters where business_id = ${businessId} and kind = 'timeline')
)`
