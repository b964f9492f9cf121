/**
 * Reads the outcome of a campaign's enrolments: how many there were, how many converted, and the revenue of the
 * converted ones. Also by day, and separately for held-out contacts.
 */
import { addAmounts, amountToNumber } from '../rules/events/money.ts'
import { isHeldOut } from '../rules/campaigns/hold-out.ts'
import { createDayOf } from '../rules/local-days.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import { nullOnTimeout } from '../timeline/reading/select-within-limits.ts'
import { type KeyedEarning, type RevenueKeys, readKeyedRevenue, readSpans } from './read-keyed-revenue.ts'
import { type Revenue, readRevenue } from './read-revenue.ts'

export interface Outcome {
  enrolled: number
  converted: number
  /** Share of converted enrolments. Null without enrolments. */
  conversionRate: number | null
  /** By currency: revenue of converted contacts from the enrolment to its end. Null when it cannot be read in time. */
  revenue: Record<string, number> | null
}

export interface Outcomes {
  revenue: Outcome['revenue']
  /**
   * For the versions with a hold-out: the contacts that still exist. Null: there is none, or it cannot be read in time.
   */
  holdOut: { heldOut: Outcome; others: Outcome } | null
  /** Days with enrolments in the zone of the business, such as `2026-11-24`, oldest first. */
  days: ({ day: string } & Outcome)[]
}

export interface OutcomeQuery {
  businessId: string
  campaignId: string
  timezone: string
  /** Null: the campaign enrols once for each contact. */
  keys: RevenueKeys | null
  /** Instants of the enrolments, in epoch milliseconds, both included. Null: any. */
  from: number | null
  to: number | null
}

/** Number of days, the newest ones. */
export const MAX_DAYS = 1000
/** Enrolments in one query. */
const PAGE = 2000

export async function readOutcomes(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  query: OutcomeQuery,
): Promise<Outcomes> {
  const dayOf = createDayOf(query.timezone)
  const counted = await countByDay(sql, query, dayOf)
  const earned = await nullOnTimeout((signal) => readEarned({ sql, clickhouse }, query, dayOf, signal))
  const days = [...counted].toSorted(([one], [other]) => (one < other ? -1 : 1)).slice(-MAX_DAYS)
  return {
    revenue: earned && sumOf([...earned.byDay.values()]),
    holdOut: earned?.holdOut ?? null,
    days: days.map(([day, counts]) => ({ day, ...outcomeOf(counts, earned && (earned.byDay.get(day) ?? new Map())) })),
  }
}

interface Counts {
  enrolled: number
  converted: number
}
/** Decimals by currency. */
type Sums = Map<string, string>

const outcomeOf = ({ enrolled, converted }: Counts, sums: Sums | null): Outcome => ({
  enrolled,
  converted,
  conversionRate: enrolled === 0 ? null : converted / enrolled,
  revenue: sums && sumOf([sums]),
})

function sumOf(all: readonly Sums[]): Record<string, number> {
  const total: Sums = new Map()
  for (const sums of all) for (const [currency, amount] of sums) add(total, currency, amount)
  const sorted = [...total].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(sorted.map(([currency, amount]) => [currency, amountToNumber(amount)]))
}

const add = (sums: Sums, currency: string, amount: string): void =>
  void sums.set(currency, addAmounts(sums.get(currency) ?? '0', amount))

/** Erased persons count as of the beginning of the hour. */
async function countByDay(
  sql: Sql,
  { businessId, campaignId, from, to }: OutcomeQuery,
  dayOf: (at: number) => string,
): Promise<Map<string, Counts>> {
  const rows = await sql<(Counts & { at: number })[]>`
    select enrolled_at - mod(enrolled_at, 900000) as at, count(*)::int as enrolled,
      (count(*) filter (where state = 'converted'))::int as converted
    from (
      select state, enrolled_at from enrolments where business_id = ${businessId} and campaign_id = ${campaignId}
      union all
      select state, enrolled_at from erased_enrolments where business_id = ${businessId} and campaign_id = ${campaignId}
    ) every
    where (${from}::bigint is null or enrolled_at >= ${from}) and (${to}::bigint is null or enrolled_at <= ${to})
    group by 1`
  const days = new Map<string, Counts>()
  for (const { at, enrolled, converted } of rows) {
    const day = dayOf(at)
    const before = days.get(day) ?? { enrolled: 0, converted: 0 }
    days.set(day, { enrolled: before.enrolled + enrolled, converted: before.converted + converted })
  }
  return days
}

interface Earned {
  byDay: Map<string, Sums>
  holdOut: Outcomes['holdOut']
}

interface Enrolment {
  id: string
  contactId: string
  /** Ids of the contact, including contacts that were merged into it. Null unless the enrolment is converted. */
  ids: string[] | null
  key: string | null
  version: number | null
  enrolledAt: number
  endedAt: number | null
}

async function readEarned(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  query: OutcomeQuery,
  dayOf: (at: number) => string,
  signal: AbortSignal,
): Promise<Earned> {
  const { campaignId } = query
  const holdOuts = await listHoldOuts(sql, query)
  const byDay = new Map<string, Sums>()
  const groups = [newGroup(), newGroup()] as const
  let after: string | null = null
  for (;;) {
    signal.throwIfAborted()
    const page: Enrolment[] = await listEnrolments(sql, query, { after, isEach: holdOuts.size > 0 })
    const earning: (KeyedEarning & { day: string; group: Group | null })[] = []
    for (const { id, contactId, ids, key, version, enrolledAt: from, endedAt: to } of page) {
      const holdOut = version === null ? undefined : holdOuts.get(version)
      const group = holdOut === undefined ? null : groups[isHeldOut({ contactId, campaignId, holdOut }) ? 0 : 1]
      if (group) group.enrolled += 1
      if (ids === null || to === null) continue
      if (group) group.converted += 1
      earning.push({ id, contactId, key, ids, from, to, day: dayOf(from), group })
    }
    for (const { place, currency, amount } of await readEarnings({ sql, clickhouse }, query, earning, signal)) {
      const { day, group } = earning[place]!
      const sums = byDay.get(day) ?? new Map<string, string>()
      byDay.set(day, sums)
      add(sums, currency, amount)
      if (group) add(group.sums, currency, amount)
    }
    const last = page.at(-1)
    if (page.length < PAGE || last === undefined) break
    after = last.id
  }
  const [heldOut, others] = groups.map((group) => outcomeOf(group, group.sums)) as [Outcome, Outcome]
  return { byDay, holdOut: holdOuts.size === 0 ? null : { heldOut, others } }
}

async function readEarnings(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  { businessId, campaignId, keys }: OutcomeQuery,
  earning: readonly KeyedEarning[],
  signal: AbortSignal,
): Promise<Revenue[]> {
  if (keys === null) return await readRevenue(clickhouse, { businessId, earning }, signal)
  const spans = keys.path === null ? await readSpans(sql, { businessId, campaignId }, earning) : []
  return await readKeyedRevenue(clickhouse, { businessId, keys, earning, spans }, signal)
}

type Group = Counts & { sums: Sums }
const newGroup = (): Group => ({ enrolled: 0, converted: 0, sums: new Map() })

/** Per cent by version, where above 0. */
async function listHoldOuts(sql: Sql, { businessId, campaignId }: OutcomeQuery): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ version: number; holdOut: number }[]>`
    select version, (definition ->> 'holdOut')::float8 as "holdOut" from campaign_versions
    where business_id = ${businessId} and campaign_id = ${campaignId} and (definition ->> 'holdOut')::float8 > 0`
  return new Map(rows.map(({ version, holdOut }) => [version, holdOut]))
}

/** By id. `isEach`: also enrolments that are not converted. */
async function listEnrolments(
  sql: Sql,
  { businessId, campaignId, from, to }: OutcomeQuery,
  { after, isEach }: { after: string | null; isEach: boolean },
): Promise<Enrolment[]> {
  return await sql<Enrolment[]>`
    select e.id, e.contact_id as "contactId", e.key, e.version, e.enrolled_at as "enrolledAt", e.ended_at as "endedAt",
      case when e.state = 'converted' then to_json(e.contact_id || array(
        select m.id from contacts m where m.business_id = e.business_id and m.merged_into = e.contact_id
      )) end as ids
    from enrolments e
    where e.business_id = ${businessId} and e.campaign_id = ${campaignId} and (${after}::uuid is null or e.id > ${after})
      and (${isEach} or e.state = 'converted')
      and (${from}::bigint is null or e.enrolled_at >= ${from}) and (${to}::bigint is null or e.enrolled_at <= ${to})
    order by e.id limit ${PAGE}`
}
