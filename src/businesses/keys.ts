/** API keys. Only their hashes are stored, so a key can be shown only once. */
import { createHash, randomBytes } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import { type Actor, type Change, recordAudit } from '../audit/audit.ts'
import { RequestError } from '../errors.ts'
import { faultOf } from '../rules/faults.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'

export const KEY_KINDS = ['secret', 'publishable'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

export interface ListedKey {
  keyId: string
  businessId: string
  kind: KeyKind
  /** Last four characters of the key. */
  hint: string
  createdAt: Date
  revokedAt: Date | null
  /** Accurate to a few minutes. */
  lastUsedAt: Date | null
}

const PREFIXES: Record<KeyKind, string> = { secret: 'sk_live_', publishable: 'pk_live_' }
const OLDER_PREFIX = 'sluice_live_'
const RANDOM_BYTES = 24

/** Per business; revoked keys do not count. */
export const MAX_ACTIVE_KEYS = 50

/** Of a new key. This is the only time that `key` is available. */
interface CreatedKey {
  keyId: string
  key: string
}

/** Throws RequestError `limit_reached`. */
export async function createKey(sql: Sql, { businessId, actor }: Change, kind: KeyKind): Promise<CreatedKey> {
  return inTransaction(sql, async (tx) => {
    const created = await insertKey(tx, businessId, kind)
    const entry = { businessId, actor, action: 'key.create', target: created.keyId }
    await recordAudit(tx, { ...entry, details: { kind } })
    return created
  })
}

/**
 * Stores a key that was made elsewhere. Returns its id, or null when it is already stored, even if revoked. Throws
 * RequestError `limit_reached`.
 */
export async function importKey(
  sql: Sql,
  { businessId, actor }: Change,
  kind: KeyKind,
  key: string,
): Promise<string | null> {
  return inTransaction(sql, async (tx) => {
    const id = await storeKey(tx, businessId, kind, key)
    const entry = { businessId, actor, action: 'key.import', target: id, details: { kind } }
    if (id !== null) await recordAudit(tx, entry)
    return id
  })
}

/** Creates a key without an entry in the audit log. Throws as `createKey` does. */
export async function insertKey(sql: Queryable, businessId: string, kind: KeyKind): Promise<CreatedKey> {
  const key = `${PREFIXES[kind]}${randomBytes(RANDOM_BYTES).toString('hex')}`
  const keyId = await storeKey(sql, businessId, kind, key)
  if (keyId === null) throw new Error('two random keys are the same')
  return { keyId, key }
}

/** Call it in a transaction, so that keys stored at the same time are counted one after the other. */
async function storeKey(sql: Queryable, businessId: string, kind: KeyKind, key: string): Promise<string | null> {
  await sql`select from businesses where id = ${businessId} for no key update`
  const [{ active }] = await sql<[{ active: number }]>`
    select count(*)::int as active from api_keys where business_id = ${businessId} and revoked_at is null`
  if (active >= MAX_ACTIVE_KEYS) {
    throw new RequestError('limit_reached', { reason: faultOf('', 'keys_full', { max: MAX_ACTIVE_KEYS }) })
  }
  const [stored] = await sql<{ id: string }[]>`
    insert into api_keys (id, business_id, kind, key_hash, hint)
    values (${uuidv7()}, ${businessId}, ${kind}, ${createHash('sha256').update(key).digest()}, ${key.slice(-4)})
    on conflict (key_hash) do nothing
    returning id`
  return stored?.id ?? null
}

/**
 * Returns the kind of a key by its prefix; keys with the older prefix are secret. For an invalid key, returns the
 * broken rule as text that never contains the key.
 */
export function readKeyKind(key: string): KeyKind | { broken: string } {
  if (!/^[\x21-\x7e]{20,255}$/.test(key)) return { broken: 'must have 20 to 255 characters without spaces' }
  if (key.startsWith(PREFIXES.publishable)) return 'publishable'
  if (key.startsWith(PREFIXES.secret) || key.startsWith(OLDER_PREFIX)) return 'secret'
  return { broken: `must begin with ${OLDER_PREFIX}, ${PREFIXES.secret} or ${PREFIXES.publishable}` }
}

/**
 * Revokes a key permanently, within a second, unless it is revoked already. Returns false when there is no such key, or
 * when it is not of `businessId`; null allows any.
 */
export async function revokeKey(
  sql: Sql,
  { businessId, actor }: { businessId: string | null; actor: Actor },
  keyId: string,
): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    const [key] = await tx<{ businessId: string }[]>`
      select business_id as "businessId" from api_keys
      where id = ${keyId} and business_id = coalesce(${businessId}::uuid, business_id)`
    if (key === undefined) return false
    const { count } = await tx`update api_keys set revoked_at = now() where id = ${keyId} and revoked_at is null`
    if (count > 0) await recordAudit(tx, { businessId: key.businessId, actor, action: 'key.revoke', target: keyId })
    return true
  })
}

/** Returns the keys of one business, or of all when `businessId` is null; oldest first. */
export async function listKeys(sql: Queryable, businessId: string | null): Promise<ListedKey[]> {
  return sql<ListedKey[]>`
    select ${listedColumns(sql)} from api_keys where business_id = coalesce(${businessId}::uuid, business_id) order by id`
}

/** Returns at most `limit` keys: active keys first, then the newest. */
export async function listLatestKeys(sql: Queryable, businessId: string, limit: number): Promise<ListedKey[]> {
  return sql<ListedKey[]>`
    select ${listedColumns(sql)} from api_keys where business_id = ${businessId}
    order by revoked_at is not null, id desc limit ${limit}`
}

const listedColumns = (sql: Queryable) => sql`
  id as "keyId", business_id as "businessId", kind, hint, created_at as "createdAt", revoked_at as "revokedAt",
  last_used_at as "lastUsedAt"`
