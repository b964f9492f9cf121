/** Businesses and their settings. The data of each business is separate. */
import { uuidv7 } from 'uuidv7'
import { type Actor, recordAudit } from '../audit/audit.ts'
import type { PageIdentify } from '../rules/business-state.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'

/** Whether events from bots and headless browsers are recorded. */
export const BOTS = ['ignore', 'allow'] as const
export type Bots = (typeof BOTS)[number]

/** An omitted setting keeps its value. A new business gets the schema's default for it. */
export interface BusinessSettings {
  name?: string
  active?: boolean
  /** Requests per minute. */
  rateLimit?: number
  currency?: string
  /** ISO 3166 alpha-2; null when not set. */
  country?: string | null
  timezone?: string
  /** Browser origins that may call; empty allows any. */
  origins?: string[]
  pageIdentify?: PageIdentify
  bots?: Bots
}

export interface ListedBusiness extends Required<BusinessSettings> {
  businessId: string
  createdAt: Date
}

export type NewBusiness = BusinessSettings & { name: string }

/** Returns the id of the new business. */
export const createBusiness = (sql: Sql, actor: Actor, settings: NewBusiness): Promise<string> =>
  inTransaction(sql, (tx) => addBusiness(tx, actor, settings))

/** Does what `createBusiness` does, in a transaction that makes other changes too. */
export async function addBusiness(tx: Queryable, actor: Actor, settings: NewBusiness): Promise<string> {
  const id = await insertBusiness(tx, settings)
  await recordAudit(tx, { businessId: id, actor, action: 'business.create', target: id, details: { ...settings } })
  return id
}

/** Creates a business without an entry in the audit log. Returns its id. */
export async function insertBusiness(sql: Queryable, settings: NewBusiness): Promise<string> {
  const id = uuidv7()
  await sql`insert into businesses ${sql({ id, ...columnsOf(settings) })}`
  return id
}

/**
 * Returns false when there is no such business. The change takes effect in every process within a second. Writes no entry
 * in the audit log, and builds no rules of segments again (segments/change-business.ts).
 */
export async function storeSettings(sql: Queryable, id: string, settings: BusinessSettings): Promise<boolean> {
  // Workers base decisions on these two settings. A save that was decided with an older version is rejected and decided
  // again.
  const changesDecisions = settings.pageIdentify !== undefined || settings.active !== undefined
  const { count } = await sql`
    update businesses set ${sql(columnsOf(settings))}
      ${changesDecisions ? sql`, config_version = config_version + 1` : sql``}
    where id = ${id} and removed_at is null`
  return count > 0
}

/** Removes a business permanently; its recorded data stays. Returns false when there is no such business. */
export async function removeBusiness(sql: Sql, actor: Actor, id: string): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    const { count } = await tx`update businesses set removed_at = now() where id = ${id} and removed_at is null`
    if (count > 0) await recordAudit(tx, { businessId: id, actor, action: 'business.remove', target: id })
    return count > 0
  })
}

export async function hasBusiness(sql: Queryable, id: string): Promise<boolean> {
  const [found] = await sql`select from businesses where id = ${id} and removed_at is null`
  return found !== undefined
}

export async function listBusinesses(sql: Queryable): Promise<ListedBusiness[]> {
  return sql<ListedBusiness[]>`
    select ${listedColumns(sql)} from businesses where removed_at is null order by id`
}

export async function readBusiness(sql: Queryable, id: string): Promise<ListedBusiness | null> {
  const [found] = await sql<ListedBusiness[]>`
    select ${listedColumns(sql)} from businesses where id = ${id} and removed_at is null`
  return found ?? null
}

const listedColumns = (sql: Queryable) => sql`
  id as "businessId", name, active, rate_limit as "rateLimit", currency, country, timezone,
  to_jsonb(origins) as origins, page_identify as "pageIdentify", bots, created_at as "createdAt"`

/** The driver does not know the column types here, so the list is an array literal. An origin never contains quotes. */
function columnsOf({ rateLimit, pageIdentify, origins, ...others }: BusinessSettings) {
  return {
    ...others,
    ...(rateLimit !== undefined && { rate_limit: rateLimit }),
    ...(pageIdentify !== undefined && { page_identify: pageIdentify }),
    ...(origins && { origins: `{${origins.map((origin) => `"${origin}"`).join(',')}}` }),
  }
}
