/** Stores the settings of a business for all of its campaigns and calls. */
import { isDeepStrictEqual } from 'node:util'
import { type Change, recordAudit } from '../audit/audit.ts'
import { DEFAULT_MESSAGING, type Messaging } from '../rules/campaigns/messaging.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'

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
    select business_id as "businessId", quiet_hours as "quietHours", caps, per_address_hour as "perAddressHour" from messaging
    where business_id = any (${`{${ids.join(',')}}`}::uuid[])`
  return new Map(rows.map(({ businessId, ...messaging }) => [businessId, messaging]))
}

const FIELDS = ['quietHours', 'caps', 'perAddressHour'] as const

/** Changes of one business wait for each other. */
export async function saveMessaging(sql: Sql, { businessId, actor }: Change, next: Messaging): Promise<void> {
  await inTransaction(sql, async (tx) => {
    await tx`select from businesses where id = ${businessId} for no key update`
    const before = await loadMessaging(tx, businessId)
    const fields = FIELDS.filter((field) => !isDeepStrictEqual(before[field], next[field]))
    if (fields.length === 0) return
    const { quietHours, caps, perAddressHour } = next
    await tx`
      insert into messaging (business_id, quiet_hours, caps, per_address_hour)
      values (${businessId}, ${quietHours && JSON.stringify(quietHours)}::text::jsonb, ${JSON.stringify(caps)}::text::jsonb, ${perAddressHour})
      on conflict (business_id) do update set quiet_hours = excluded.quiet_hours, caps = excluded.caps,
        per_address_hour = excluded.per_address_hour, updated_at = clock_timestamp()`
    await recordAudit(tx, { businessId, actor, action: 'messaging.update', target: businessId, details: { fields } })
  })
}
