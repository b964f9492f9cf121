/** Push subscriptions of contacts' browsers. The database has the rules: see the functions that are called here. */
import type { BrowserKeys } from '../channels/web-push/encrypt.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'

export interface PushSubscription extends BrowserKeys {
  /** An https URL at a push service. Anybody who knows it can send to the browser. */
  endpoint: string
}

/** `visitorId` has the form that the browser script generates. */
export interface PushVisitor {
  businessId: string
  visitorId: string
}

/** Returns the key that browsers subscribe with; null when the business does not send by web push. */
export async function readPublicKey(sql: Queryable, businessId: string): Promise<string | null> {
  const [row] = await sql<{ key: string | null }[]>`
    select settings ->> 'publicKey' as key from channels
    where business_id = ${businessId} and channel = 'push' and provider = 'webpush'`
  return row?.key ?? null
}

/**
 * Replaces the subscription of this endpoint, whatever its visitor. `at`: epoch milliseconds. Returns false when the
 * business does not send by web push.
 */
export async function keepPushSubscription(
  sql: Sql,
  { businessId, visitorId }: PushVisitor,
  { endpoint, p256dh, auth }: PushSubscription,
  at: number,
): Promise<boolean> {
  const [row] = await sql<[{ kept: boolean }]>`
    select keep_push_subscription(${businessId}, ${visitorId}, ${endpoint}, ${p256dh}, ${auth}, ${at}) as kept`
  return row.kept
}

/** Removes all subscriptions of the visitor. */
export async function endPushSubscriptions(sql: Sql, { businessId, visitorId }: PushVisitor): Promise<void> {
  await sql`delete from push_subscriptions where business_id = ${businessId} and visitor_id = ${visitorId}`
}

/** Returns the present subscriptions of the contact, newest first. A merged contact is replaced by its survivor. */
export async function findPushSubscriptions(
  sql: Sql,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<PushSubscription[]> {
  return sql<PushSubscription[]>`
    select endpoint, p256dh, auth from find_push_subscriptions(${businessId}, ${contactId})`
}

/**
 * Returns whether a message would reach a browser of the contact. Null when the business does not send by web push, so
 * that it is not needed.
 */
export async function readHasPush(
  sql: Sql,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<boolean | null> {
  if ((await readPublicKey(sql, businessId)) === null) return null
  return (await findPushSubscriptions(sql, { businessId, contactId })).length > 0
}

/** Removes subscriptions that their push service has reported as gone. */
export async function removePushSubscriptions(
  sql: Sql,
  businessId: string,
  endpoints: readonly string[],
): Promise<void> {
  if (endpoints.length === 0) return
  await sql`
    delete from push_subscriptions
    where business_id = ${businessId}
      and endpoint in (select value from json_array_elements_text(${JSON.stringify(endpoints)}::text::json))`
}
