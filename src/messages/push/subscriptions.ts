/** Where the browsers of contacts take push messages. The database has the rules: see the functions that are called here. */
import type { BrowserKeys } from '../channels/web-push/encrypt.ts'
import type { Queryable, Sql } from '../../stores/postgres.ts'

export interface PushSubscription extends BrowserKeys {
  /** An https address at a push service. Who knows it can send to the browser. */
  endpoint: string
}

/** `visitorId` has the form that the browser script makes. */
export interface PushVisitor {
  businessId: string
  visitorId: string
}

/** The key that browsers subscribe with; null when the business does not send by web push. */
export async function readPublicKey(sql: Queryable, businessId: string): Promise<string | null> {
  const [row] = await sql<{ key: string | null }[]>`
    select settings ->> 'publicKey' as key from channels
    where business_id = ${businessId} and channel = 'push' and provider = 'webpush'`
  return row?.key ?? null
}

/** In place of the one that this endpoint had, of whatever visitor. `at`: epoch ms. False when the business does not send by web push. */
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

/** All of the visitor. */
export async function endPushSubscriptions(sql: Sql, { businessId, visitorId }: PushVisitor): Promise<void> {
  await sql`delete from push_subscriptions where business_id = ${businessId} and visitor_id = ${visitorId}`
}

/** Where the contact is reached now, the newest first. One that was merged stands for its survivor. */
export async function findPushSubscriptions(
  sql: Sql,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<PushSubscription[]> {
  return sql<PushSubscription[]>`
    select endpoint, p256dh, auth from find_push_subscriptions(${businessId}, ${contactId})`
}

/** Whether a message would find a browser of the contact. Null when the business does not send by web push: then it needs none. */
export async function readHasPush(
  sql: Sql,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<boolean | null> {
  if ((await readPublicKey(sql, businessId)) === null) return null
  return (await findPushSubscriptions(sql, { businessId, contactId })).length > 0
}

/** Their push service has said that they are gone. */
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
