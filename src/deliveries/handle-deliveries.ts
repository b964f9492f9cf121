/** Lists, retries and drops deliveries for an operator. */
import { type AuditEntry, recordAudit } from '../audit/audit.ts'
import { CHUNK_ROWS, runInChunks } from '../stores/run-in-chunks.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import type { Attempt } from './record-delivery.ts'

export const DELIVERY_STATES = ['queued', 'sent', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export interface Delivery {
  id: string
  businessId: string
  destinationId: string
  destinationName: string
  contactId: string
  eventId: string
  event: string
  type: string
  state: DeliveryState
  attempts: number
  /** Null unless the delivery is queued. */
  nextAttemptAt: Date | null
  lastError: string | null
  createdAt: Date
  settledAt: Date | null
}

/** Null matches any business or destination. */
interface Scope {
  businessId: string | null
  destinationId: string | null
}
export type DeliveryFilter = Scope & { state: DeliveryState | null }
/** Selects one delivery; a null `id` selects all deliveries that were given up. */
export type DeliverySelection = Scope & { id: string | null }

/** Returns at most `limit` deliveries, oldest first. */
export async function listDeliveries(
  sql: Sql,
  { state, ...scope }: DeliveryFilter,
  limit: number,
): Promise<Delivery[]> {
  return sql<Delivery[]>`
    select ${columns(sql)} from deliveries d where ${matches(sql, scope)} and ${inState(sql, state)}
    order by created_at, id limit ${limit}`
}

/**
 * Returns one page of deliveries, newest first. `before`: id of the last delivery on the previous page; null for the
 * first page.
 */
export async function pageDeliveries(
  sql: Sql,
  { state, ...scope }: DeliveryFilter,
  { before, limit }: { before: string | null; limit: number },
): Promise<Delivery[]> {
  return sql<Delivery[]>`
    select ${columns(sql)} from deliveries d
    where ${matches(sql, scope)} and ${inState(sql, state)} and ${before === null ? sql`true` : sql`id < ${before}`}
    order by id desc limit ${limit}`
}

/** Returns the attempts of a delivery, oldest first; null when the business has no such delivery. */
export async function readAttempts(sql: Sql, businessId: string, id: string): Promise<Attempt[] | null> {
  const [found] = await sql<{ attempts: Attempt[] }[]>`
    select attempt_log as attempts from deliveries where business_id = ${businessId} and id = ${id}`
  return found?.attempts ?? null
}

const columns = (sql: Sql) => sql`
  id, business_id as "businessId", destination_id as "destinationId",
  (select name from destinations o where o.business_id = d.business_id and o.id = d.destination_id) as "destinationName",
  contact_id as "contactId",
  event_id as "eventId", event, type, state, attempts,
  case when state = 'queued' then next_attempt_at end as "nextAttemptAt", last_error as "lastError",
  created_at as "createdAt", settled_at as "settledAt"`

const inState = (sql: Sql, state: DeliveryState | null) => (state === null ? sql`true` : sql`state = ${state}`)

/** Who handles deliveries, and what the entry in the audit log says of those that are chosen. */
type DeliveryChange = Omit<AuditEntry, 'businessId' | 'action'>

/**
 * Makes deliveries due now, with their full number of tries: all that were given up, or the one that is waiting for its
 * next attempt. Calls `report` with the number so far. Returns the number of deliveries.
 */
export async function retryDeliveries(
  sql: Sql,
  change: DeliveryChange,
  chosen: DeliverySelection,
  report?: (soFar: number) => void,
): Promise<number> {
  const step = (db: Queryable) => db`
    with step as materialized (${unsent(db, chosen)})
    update deliveries d set state = 'queued', attempts = 0, next_attempt_at = now(), settled_at = null
    from step where d.business_id = step.business_id and d.id = step.id and d.claim is null`
  return changeAndRecord(sql, { ...change, businessId: chosen.businessId, action: 'delivery.retry' }, chosen, {
    step,
    report,
  })
}

/**
 * Deletes deliveries that were not sent. Sent ones remain until they are purged. `report` and the result are as in
 * `retryDeliveries`.
 */
export async function dropDeliveries(
  sql: Sql,
  change: DeliveryChange,
  chosen: DeliverySelection,
  report?: (soFar: number) => void,
): Promise<number> {
  const step = (db: Queryable) => db`
    with step as materialized (${unsent(db, chosen)})
    delete from deliveries d using step where d.business_id = step.business_id and d.id = step.id`
  return changeAndRecord(sql, { ...change, businessId: chosen.businessId, action: 'delivery.drop' }, chosen, {
    step,
    report,
  })
}

/** A change of all is recorded first, because a large number of deliveries is changed in chunks. */
async function changeAndRecord(
  sql: Sql,
  entry: AuditEntry,
  { id }: DeliverySelection,
  {
    step,
    report,
  }: { step: (db: Queryable) => PromiseLike<{ count: number }>; report: ((soFar: number) => void) | undefined },
): Promise<number> {
  if (id === null) {
    await recordAudit(sql, entry)
    return runInChunks(() => step(sql), report)
  }
  return inTransaction(sql, async (tx) => {
    const { count } = await step(tx)
    if (count > 0) await recordAudit(tx, entry)
    return count
  })
}

/** Selects one chunk of them. Waits for rows that a merge or an erasure has locked. */
function unsent(sql: Queryable, { id, ...scope }: DeliverySelection) {
  return sql`
    select business_id, id from deliveries
    where ${matches(sql, scope)} and ${id === null ? sql`state = 'dead'` : sql`id = ${id} and state <> 'sent'`}
    order by business_id, destination_id limit ${CHUNK_ROWS} for update`
}

function matches(sql: Queryable, { businessId, destinationId }: Scope) {
  const business = businessId === null ? sql`true` : sql`business_id = ${businessId}`
  return destinationId === null ? business : sql`${business} and destination_id = ${destinationId}`
}
