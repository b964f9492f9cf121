import type { Sql } from '../stores/postgres.ts'

/** What one business has chosen, as the door needs it. */
export interface Business {
  id: string
  name: string
  active: boolean
  removed: boolean
  /** Keyed requests a minute. */
  rateLimit: number
  /** Upper-cased: counts an amount sent without one. */
  currency: string
  /** ISO 3166 alpha-2, or null: how a national phone number is read. */
  country: string | null
  timezone: string
  /** Lower-cased; empty allows any. */
  origins: string[]
}

/** A good key: what it may do, and for whom. */
export interface KeyHolder {
  kind: 'secret' | 'publishable'
  business: Business
}

/** By the sha256 of a key, in hex. Null when there is none, or it was revoked. */
export async function findKeyHolder(sql: Sql, keyHash: string): Promise<KeyHolder | null> {
  const rows = await sql<{ kind: KeyHolder['kind']; business: Business }[]>`
    select k.kind, ${businessJson(sql)} as business
    from api_keys k join businesses b on b.id = k.business_id
    where k.key_hash = decode(${keyHash}, 'hex') and k.revoked_at is null`
  return rows[0] ?? null
}

/** `id` is a UUID. */
export async function findBusiness(sql: Sql, id: string): Promise<Business | null> {
  const rows = await sql<{ business: Business }[]>`
    select ${businessJson(sql)} as business from businesses b where b.id = ${id}::uuid`
  return rows[0]?.business ?? null
}

function businessJson(sql: Sql) {
  return sql`json_build_object(
    'id', b.id, 'name', b.name, 'active', b.active, 'removed', b.removed_at is not null, 'rateLimit', b.rate_limit,
    'currency', upper(b.currency), 'country', b.country, 'timezone', b.timezone,
    'origins', array(select lower(origin) from unnest(b.origins) as origin))`
}
