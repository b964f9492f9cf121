/** Saves, lists, deletes and sums spend in Postgres. */
import { type Change, recordContactAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import type { SpendRow } from './spend-row.ts'

/** Per business. */
export const MAX_SPEND_ROWS = 1_000_000
/** Per call. */
export const MAX_DELETED = 50_000

export interface SavedSpend {
  added: number
  /** Rows that existed with another amount. */
  changed: number
}

/**
 * The keys of `rows` differ. All are saved, or none. An existing row gets the new amount, so that repeating the call
 * doubles nothing.
 */
export async function saveSpend(
  sql: Sql,
  { businessId, actor }: Change,
  rows: readonly SpendRow[],
): Promise<SavedSpend | 'limit_reached'> {
  return await inTransaction(sql, async (tx) => {
    const many = await lockCount(tx, businessId)
    const sent = tx`jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as x (day date, channel text, source text, campaign text, currency text, amount numeric)`
    const [{ known } = { known: 0 }] = await tx<{ known: number }[]>`
      select count(*)::int as known from ${sent}
      join ad_spend s using (day, channel, source, campaign, currency) where s.business_id = ${businessId}`
    const added = rows.length - known
    if (many + added > MAX_SPEND_ROWS) return 'limit_reached'
    const { count } = await tx`
      insert into ad_spend (business_id, day, channel, source, campaign, currency, amount)
      select ${businessId}, day, channel, source, campaign, currency, amount from ${sent}
      on conflict (business_id, day, channel, source, campaign, currency) do update set amount = excluded.amount
        where ad_spend.amount <> excluded.amount`
    await tx`update ad_spend_counts set many = many + ${added} where business_id = ${businessId}`
    const saved = { added, changed: count - added }
    const entry = { businessId, actor, action: 'spend.import', target: null, details: saved }
    if (count > 0) await recordContactAudit(tx, entry)
    return saved
  })
}

/** Two calls at once must not exceed the limit together. */
async function lockCount(tx: Queryable, businessId: string): Promise<number> {
  await tx`insert into ad_spend_counts (business_id, many) values (${businessId}, 0) on conflict do nothing`
  const [row] = await tx<{ many: number }[]>`
    select many from ad_spend_counts where business_id = ${businessId} for update`
  return row?.many ?? 0
}

/** Days: `from` is included, `to` is not. */
export interface SpendDays {
  from: string
  to: string
}

/** Deletes the oldest days first, at most `MAX_DELETED` rows. `hasMore`: some are left. */
export async function deleteSpend(
  sql: Sql,
  { businessId, actor }: Change,
  { from, to }: SpendDays,
): Promise<{ deleted: number; hasMore: boolean }> {
  return await inTransaction(sql, async (tx) => {
    await lockCount(tx, businessId)
    const fitting = tx`business_id = ${businessId} and day >= ${from}::text::date and day < ${to}::text::date`
    const { count: deleted } = await tx`
      delete from ad_spend where business_id = ${businessId} and (day, channel, source, campaign, currency) in (
        select day, channel, source, campaign, currency from ad_spend where ${fitting}
        order by day, channel, source, campaign, currency limit ${MAX_DELETED})`
    const left = await tx`select from ad_spend where ${fitting} limit 1`
    if (deleted > 0) {
      await tx`update ad_spend_counts set many = many - ${deleted} where business_id = ${businessId}`
      const details = { deleted, from, to }
      await recordContactAudit(tx, { businessId, actor, action: 'spend.delete', target: null, details })
    }
    return { deleted, hasMore: left.length > 0 }
  })
}

type SpendKey = Omit<SpendRow, 'amount'>

interface ListOptions extends SpendDays {
  businessId: string
  /** The page begins below this row; null for the first page. */
  before: SpendKey | null
  limit: number
}

/** The newest day first. */
export async function listSpend(sql: Sql, { businessId, from, to, before, limit }: ListOptions): Promise<SpendRow[]> {
  const below =
    before === null
      ? sql`true`
      : sql`(day, channel, source, campaign, currency) < (${before.day}::text::date, ${before.channel}, ${before.source},
          ${before.campaign}, ${before.currency})`
  return await sql<SpendRow[]>`
    select to_char(day, 'YYYY-MM-DD') as day, channel, source, campaign, currency, amount::text as amount
    from ad_spend
    where business_id = ${businessId} and day >= ${from}::text::date and day < ${to}::text::date and ${below}
    order by ad_spend.day desc, channel desc, source desc, campaign desc, currency desc
    limit ${limit}`
}

/** The dimensions of the sums. */
export type SpendKeyName = 'channel' | 'source' | 'campaign'

export interface SpendSum {
  key: string
  currency: string
  amount: string
}

interface SumOptions extends SpendDays {
  businessId: string
  by: SpendKeyName
  /** Sums that are returned in any case … */
  keys: readonly Pick<SpendSum, 'key' | 'currency'>[]
  /** … and this number of others, greatest first. Sums of 0 are left out. */
  others: number
}

export async function sumSpend(
  sql: Sql,
  { businessId, by, from, to, keys, others }: SumOptions,
): Promise<(SpendSum & { isKnown: boolean })[]> {
  return await sql<(SpendSum & { isKnown: boolean })[]>`
    with sums as (
      select ${sql(by)} as key, currency, sum(amount) as amount from ad_spend
      where business_id = ${businessId} and day >= ${from}::text::date and day < ${to}::text::date
      group by 1, 2 having sum(amount) > 0
    ), marked as (
      select s.*, k.key is not null as is_known
      from sums s
      left join jsonb_to_recordset(${JSON.stringify(keys)}::text::jsonb) as k (key text, currency text) using (key, currency)
    )
    select key, currency, amount::text as amount, is_known as "isKnown"
    from (
      select *, row_number() over (partition by is_known order by amount desc, key, currency) as place from marked
    ) ranked
    where is_known or place <= ${others}
    order by ranked.amount desc, key, currency`
}
