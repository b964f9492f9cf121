import type { Bots } from './businesses.ts'
import type { KeyKind } from './keys.ts'
import { MAX_WEB_CAMPAIGNS, type WebTrigger } from '../rules/campaigns/web-trigger.ts'
import type { Sql } from '../stores/postgres.ts'

/** The settings of one business that the front door needs. */
export interface Business {
  id: string
  name: string
  active: boolean
  removed: boolean
  /** Requests with a key per minute. */
  rateLimit: number
  /** In upper case. The currency of amounts that are sent without one. */
  currency: string
  /** ISO 3166 alpha-2, or null. National phone numbers are read with it. */
  country: string | null
  timezone: string
  /** In lower case; empty allows any. */
  origins: string[]
  /** Whether events from bots and headless browsers are recorded. */
  bots: Bots
  /** Web triggers of published campaigns: the first MAX_WEB_CAMPAIGNS that start with what browsers capture. */
  webTriggers: ({ campaignId: string } & WebTrigger)[]
}

/** A valid key: its kind and its business. */
export interface KeyHolder {
  keyId: string
  kind: KeyKind
  /** Last characters of the key, by which people recognise it. */
  hint: string
  business: Business
}

/** Returns the holders by the sha256 of their keys, in hex. Leaves out unknown and revoked keys. */
export async function findKeyHolders(sql: Sql, keyHashes: string[]): Promise<Map<string, KeyHolder>> {
  const rows = await sql<(KeyHolder & { hash: string })[]>`
    select asked.hash, k.id as "keyId", k.kind, k.hint, ${businessJson(sql)} as business
    from unnest(${arrayOf(keyHashes)}::text[]) as asked (hash)
    join api_keys k on k.key_hash = decode(asked.hash, 'hex') and k.revoked_at is null
    join businesses b on b.id = k.business_id`
  return new Map(rows.map(({ hash, ...holder }) => [hash, holder]))
}

/** Returns the businesses by id. Leaves out unknown ids. `ids` are UUIDs. */
export async function findBusinesses(sql: Sql, ids: string[]): Promise<Map<string, Business>> {
  const rows = await sql<{ id: string; business: Business }[]>`
    select asked.id, ${businessJson(sql)} as business
    from unnest(${arrayOf(ids)}::text[]) as asked (id) join businesses b on b.id = asked.id::uuid`
  return new Map(rows.map(({ id, business }) => [id, business]))
}

/** Returns a Postgres array literal. For ids and hashes only: nothing is escaped. */
const arrayOf = (words: string[]): string => `{${words.join(',')}}`

function businessJson(sql: Sql) {
  return sql`json_build_object(
    'id', b.id, 'name', b.name, 'active', b.active, 'removed', b.removed_at is not null, 'rateLimit', b.rate_limit,
    'currency', upper(b.currency), 'country', b.country, 'timezone', b.timezone, 'bots', b.bots,
    'webTriggers', (
      select coalesce(json_agg(
        json_strip_nulls(json_build_object('campaignId', c.id, 'web', c.trigger_web, 'where', c.trigger_where))
        order by c.published_at, c.id
      ), '[]')
      from (
        select * from campaigns w where w.business_id = b.id and w.trigger_web is not null and w.status = 'published'
        order by w.published_at, w.id limit ${MAX_WEB_CAMPAIGNS}
      ) c
    ),
    'origins', array(select lower(origin) from unnest(b.origins) as origin))`
}
