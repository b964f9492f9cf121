/**
 * Stores destinations in Postgres. Every change increments the version of the business's configuration, so that later
 * events are recorded with the change.
 */
import { uuidv7 } from 'uuidv7'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { RequestError } from '../errors.ts'
import { faultOf } from '../rules/faults.ts'
import { CHUNK_ROWS } from '../stores/run-in-chunks.ts'
import type { ConversionType } from '../rules/events/facts.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { sleep } from '../async/sleep.ts'
import { type DestinationKind, clickIdsOf } from './settings.ts'

/** A destination without its secret. */
export interface Destination {
  id: string
  businessId: string
  kind: DestinationKind
  name: string
  types: ConversionType[]
  settings: Record<string, unknown>
  active: boolean
  createdAt: Date
}

export interface SealedDestination extends Destination {
  secret: string
}

/** A change of a destination. `secret` is sealed. */
export type DestinationChange = Partial<Pick<Destination, 'name' | 'types' | 'settings' | 'active'>> & {
  secret?: string
}

const LOCKED_RETRY_MS = 50

/** Limit per business, because each destination is considered whenever a conversion is recorded. */
export const MAX_DESTINATIONS = 50

export const newDestinationId = (): string => uuidv7()

/**
 * Adds a destination. Throws RequestError `limit_reached`. Call it in a transaction, so that concurrent calls are
 * counted one after the other.
 */
export async function addDestination(
  sql: Queryable,
  destination: Omit<Destination, 'active' | 'createdAt'> & { secret: string },
): Promise<void> {
  const { id, businessId, kind, name, types, settings, secret } = destination
  await sql`select from businesses where id = ${businessId} for no key update`
  const [{ known }] = await sql<[{ known: number }]>`
    select count(*)::int as known from destinations where business_id = ${businessId}`
  if (known >= MAX_DESTINATIONS) {
    throw new RequestError('limit_reached', { reason: faultOf('', 'destinations_full', { max: MAX_DESTINATIONS }) })
  }
  await sql`
    with business as (
      update businesses set config_version = config_version + 1 where id = ${businessId} returning id
    )
    insert into destinations (business_id, id, kind, name, types, click_ids, settings, secret)
    select id, ${id}, ${kind}, ${name}, ${listOf(types)}::text[], ${listOf(clickIdsOf(kind, settings))}::text[],
      ${JSON.stringify(settings)}::text::jsonb, ${secret} from business`
}

/**
 * Changes the given fields. Returns false, without a change, when another call has changed the settings since `before`
 * was read, or the secret if a new one is given. `change` has complete settings and a complete secret, so it would undo
 * that other change.
 */
export async function updateDestination(
  sql: Queryable,
  before: SealedDestination,
  change: DestinationChange,
): Promise<boolean> {
  const { name = null, types = null, settings = before.settings, active = null, secret = null } = change
  const { count } = await sql`
    with business as (
      update businesses set config_version = config_version + 1 where id = ${before.businessId} returning id
    )
    update destinations d set
      name = coalesce(${name}, d.name), types = coalesce(${listOf(types)}::text[], d.types),
      settings = ${JSON.stringify(settings)}::text::jsonb,
      click_ids = ${listOf(clickIdsOf(before.kind, settings))}::text[], active = coalesce(${active}, d.active),
      secret = coalesce(${secret}, d.secret), held_until = '-infinity'
    from business where d.business_id = business.id and d.id = ${before.id}
      and d.settings = ${JSON.stringify(before.settings)}::text::jsonb
      and (${secret}::text is null or d.secret = ${before.secret})`
  return count === 1
}

interface Removal {
  /** Called with the number of deleted conversions after each full chunk. */
  report?: (soFar: number) => void
  /** When it aborts, the removal stops after the current chunk. The destination remains, inactive. */
  signal?: AbortSignal
}

/**
 * Removes a destination with its queued conversions and its history. First stops queueing and deletes the deliveries in
 * chunks, because the last statement blocks the saves of the business. Returns false when `signal` stopped it: call it
 * again to remove the rest. The first call writes the entry of the audit log, before it deletes anything.
 */
export async function removeDestination(
  sql: Sql,
  actor: Actor,
  destination: Destination,
  removal: Removal = {},
): Promise<boolean> {
  const { businessId, id, kind, name } = destination
  const entry = { businessId, actor, action: 'destination.remove', target: id, details: { kind, name } }
  const raised = (db: Queryable) =>
    db`update businesses set config_version = config_version + 1 where id = ${businessId} returning id`
  // Read before the business is locked: the lock blocks its saves.
  const [latest] = await sql<{ action: string }[]>`
    select action from audit_log where business_id = ${businessId} and target = ${id} and action like 'destination.%'
    order by id desc limit 1`
  await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      with business as (${raised(tx)})
      update destinations d set active = false from business
      where d.business_id = business.id and d.id = ${id} and d.active`
    // One that is inactive was paused, or an earlier call has begun to remove it.
    if (count > 0 || latest?.action !== entry.action) await recordAudit(tx, entry)
  })
  if (!(await dropAll(sql, destination, removal))) return false
  await sql`
    with business as (${raised(sql)})
    delete from destinations d using business where d.business_id = business.id and d.id = ${id}`
  return true
}

/**
 * Deletes all deliveries of the destination. Waits without holding a lock for deliveries that a sender, a merge or an
 * erasure has locked. Deleting the destination would wait for them while it holds the lock on the destination, which
 * the sender may be about to update: a deadlock.
 */
async function dropAll(sql: Sql, { businessId, id }: Destination, { report, signal }: Removal): Promise<boolean> {
  const all = sql`business_id = ${businessId} and destination_id = ${id}`
  for (let dropped = 0; ;) {
    const { count } = await sql`
      with step as materialized (
        select business_id, id from deliveries where ${all} limit ${CHUNK_ROWS} for update skip locked
      )
      delete from deliveries d using step where d.business_id = step.business_id and d.id = step.id`
    dropped += count
    const isFull = count === CHUNK_ROWS
    if (isFull) report?.(dropped)
    else if ((await sql`select from deliveries where ${all} limit 1`).length === 0) return true
    if (signal?.aborted) return false
    if (!isFull) await sleep(LOCKED_RETRY_MS)
  }
}

/** Returns the destinations of one business, or of all businesses, oldest first. */
export async function listDestinations(sql: Sql, businessId?: string): Promise<Destination[]> {
  return sql<Destination[]>`
    select ${columns(sql)} from destinations
    ${businessId === undefined ? sql`` : sql`where business_id = ${businessId}`} order by id`
}

/** Returns a destination with its sealed secret; undefined when it does not exist. */
export async function findDestination(sql: Queryable, id: string): Promise<SealedDestination | undefined> {
  const [found] = await sql<SealedDestination[]>`
    select ${columns(sql)}, secret from destinations where id = ${id}`
  return found
}

const columns = (sql: Queryable) => sql`
  id, business_id as "businessId", kind, name, to_json(types) as types, settings, active, created_at as "createdAt"`

/**
 * Writes a Postgres array literal, because the driver does not know the types. Only for plain words, because it does
 * not quote them.
 */
const listOf = (words: readonly string[] | null) => words && `{${words.join(',')}}`
