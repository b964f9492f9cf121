/** Stores the settings of a business for all of its campaigns. */
import { isDeepStrictEqual } from 'node:util'
import { DEFAULT_MESSAGING, type Messaging } from '../rules/campaigns/messaging.ts'
import type { Queryable } from '../stores/postgres.ts'

export async function loadMessaging(sql: Queryable, businessId: string): Promise<Messaging> {
  return (await loadMessagingOf(sql, [businessId])).get(businessId) ?? DEFAULT_MESSAGING
}

/** By business. Businesses without settings have no entry. */
export async function loadMessagingOf(
  sql: Queryable,
  businessIds: Iterable<string>,
): Promise<ReadonlyMap<string, Messaging>> {
  const ids = [...new Set(businessIds)]
  const rows = await sql<(Messaging & { businessId: string })[]>`
    select business_id as "businessId", quiet_hours as "quietHours", caps from messaging
    where business_id = any (${`{${ids.join(',')}}`}::uuid[])`
  return new Map(rows.map(({ businessId, quietHours, caps }) => [businessId, { quietHours, caps }]))
}

/** Returns the fields that have changed. Call it in a transaction: changes of one business wait for each other. */
export async function storeMessaging(tx: Queryable, businessId: string, next: Messaging): Promise<string[]> {
  await tx`select from businesses where id = ${businessId} for no key update`
  const before = await loadMessaging(tx, businessId)
  const changed = (['quietHours', 'caps'] as const).filter((field) => !isDeepStrictEqual(before[field], next[field]))
  if (changed.length === 0) return changed
  const { quietHours, caps } = next
  await tx`
    insert into messaging (business_id, quiet_hours, caps)
    values (${businessId}, ${quietHours && JSON.stringify(quietHours)}::text::jsonb, ${JSON.stringify(caps)}::text::jsonb)
    on conflict (business_id) do update set quiet_hours = excluded.quiet_hours, caps = excluded.caps, updated_at = clock_timestamp()`
  return changed
}
