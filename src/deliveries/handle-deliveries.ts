/** Deliveries in an operator's hands: to be looked at, sent once more, or dropped. */
import { CHUNK_ROWS, runInChunks } from '../stores/run-in-chunks.ts'
import type { Sql } from '../stores/postgres.ts'

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
  /** Of one that waits. */
  nextAttemptAt: Date | null
  lastError: string | null
  createdAt: Date
  settledAt: Date | null
}

/** Null: whatever it is. */
interface Of {
  businessId: string | null
  destinationId: string | null
}
export type DeliveryFilter = Of & { state: DeliveryState | null }
/** One; null: all that were given up. */
export type Chosen = Of & { id: string | null }

/** Oldest first. */
export async function listDeliveries(sql: Sql, { state, ...of }: DeliveryFilter, limit: number): Promise<Delivery[]> {
  return sql<Delivery[]>`
    select id, business_id as "businessId", destination_id as "destinationId",
      (select name from destinations o where o.business_id = d.business_id and o.id = d.destination_id) as "destinationName",
      contact_id as "contactId",
      event_id as "eventId", event, type, state, attempts,
      case when state = 'queued' then next_attempt_at end as "nextAttemptAt", last_error as "lastError",
      created_at as "createdAt", settled_at as "settledAt"
    from deliveries d where ${matches(sql, of)} and ${state === null ? sql`true` : sql`state = ${state}`}
    order by created_at, id limit ${limit}`
}

/**
 * Those that were given up, or the one that waits for a later attempt, are due at once, with all their attempts before them.
 * `report` hears of many how far it is. Returns how many.
 */
export async function retryDeliveries(sql: Sql, chosen: Chosen, report?: (soFar: number) => void): Promise<number> {
  return runInChunks(
    () => sql`
      with step as materialized (${unsent(sql, chosen)})
      update deliveries d set state = 'queued', attempts = 0, next_attempt_at = now(), settled_at = null
      from step where d.business_id = step.business_id and d.id = step.id and d.claim is null`,
    report,
  )
}

/** What was sent stays in the list until it is forgotten. As `retryDeliveries` tells and returns. */
export async function dropDeliveries(sql: Sql, chosen: Chosen, report?: (soFar: number) => void): Promise<number> {
  return runInChunks(
    () => sql`
      with step as materialized (${unsent(sql, chosen)})
      delete from deliveries d using step where d.business_id = step.business_id and d.id = step.id`,
    report,
  )
}

/** One step of them. What a merge or an erasure has in its hands is waited for. */
function unsent(sql: Sql, { id, ...of }: Chosen) {
  return sql`
    select business_id, id from deliveries
    where ${matches(sql, of)} and ${id === null ? sql`state = 'dead'` : sql`id = ${id} and state <> 'sent'`}
    order by business_id, destination_id limit ${CHUNK_ROWS} for update`
}

function matches(sql: Sql, { businessId, destinationId }: Of) {
  const business = businessId === null ? sql`true` : sql`business_id = ${businessId}`
  return destinationId === null ? business : sql`${business} and destination_id = ${destinationId}`
}
