/** Deliveries in an operator's hands: to be looked at, sent once more, or dropped. */
import type { Sql } from '../stores/postgres.ts'

export const DELIVERY_STATES = ['queued', 'sent', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export interface Delivery {
  id: string
  businessId: string
  destinationId: string
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

/** Null: all of them. */
export interface Chosen {
  id: string | null
  businessId: string | null
  destinationId: string | null
  state: DeliveryState | null
}

/** Oldest first. */
export async function listDeliveries(sql: Sql, chosen: Chosen, limit: number): Promise<Delivery[]> {
  return sql<Delivery[]>`
    select id, business_id as "businessId", destination_id as "destinationId", contact_id as "contactId",
      event_id as "eventId", event, type, state, attempts,
      case when state = 'queued' then next_attempt_at end as "nextAttemptAt", last_error as "lastError",
      created_at as "createdAt", settled_at as "settledAt"
    from deliveries where ${matches(sql, chosen)} order by created_at, id limit ${limit}`
}

/** Those that were given up, and those that wait for a later attempt, are due at once, with all their attempts before them. */
export async function retryDeliveries(sql: Sql, chosen: Chosen): Promise<number> {
  const { count } = await sql`
    update deliveries set state = 'queued', attempts = 0, next_attempt_at = now(), settled_at = null
    where ${matches(sql, chosen)} and state <> 'sent' and claim is null`
  return count
}

/** What was sent stays in the list until it is forgotten. */
export async function dropDeliveries(sql: Sql, chosen: Chosen): Promise<number> {
  const { count } = await sql`delete from deliveries where ${matches(sql, chosen)} and state <> 'sent'`
  return count
}

function matches(sql: Sql, { id, businessId, destinationId, state }: Chosen) {
  return sql`
    id = coalesce(${id}::uuid, id) and business_id = coalesce(${businessId}::uuid, business_id)
    and destination_id = coalesce(${destinationId}::uuid, destination_id) and state = coalesce(${state}::text, state)`
}
