/** Destinations, contacts with clicks, and the states of their conversions. */
import { uuidv7 } from 'uuidv7'
import type { Actor } from '../../src/audit/audit.ts'
import { addDestination } from '../../src/deliveries/destinations.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { sealSecret } from '../../src/stores/seal-secret.ts'
import type { DestinationKind } from '../../src/deliveries/settings.ts'
import { CONVERSION_TYPES, type ConversionType } from '../../src/rules/events/facts.ts'
import type { Sql } from '../../src/stores/postgres.ts'

export const ACTOR: Actor = { kind: 'command', id: 'test', name: 'test' }
export const SECRETS_KEY = 'ab'.repeat(32)
/** In these tests, the platforms run on this machine. */
export const LOOPBACK_GUARD = guardOf({ port: 0, workerMetricsPort: undefined, allowLoopbackTargets: true })
export const SECRETS = {
  meta: { accessToken: 'EAAB-token' },
  google: { developerToken: 'dev', clientId: 'client', clientSecret: 'shh', refreshToken: 'refresh' },
  webhook: { signingKey: 'whsec_0123456789abcdef' },
}

/** `url` is the address of the platform. Returns the id of the destination. */
export async function addTo(
  sql: Sql,
  businessId: string,
  kind: DestinationKind,
  { url = 'http://127.0.0.1:9', types = [...CONVERSION_TYPES] as ConversionType[], settings = {} } = {},
): Promise<string> {
  const id = uuidv7()
  const addresses = {
    meta: { pixelId: '77', baseUrl: url },
    google: { customerId: '12', conversionActions: { purchase: '34' }, baseUrl: url, tokenUrl: `${url}/token` },
    webhook: { url: `${url}/hook` },
  }
  const secret = sealSecret(SECRETS[kind], id, SECRETS_KEY)
  await addDestination(sql, {
    id,
    businessId,
    kind,
    name: kind,
    types,
    settings: { ...addresses[kind], ...settings },
    secret,
  })
  return id
}

interface Visit {
  at: number
  clickIds: Record<string, string>
}

/** Adds a browser that belongs to the contact from `from` on, with its visits. */
export async function addVisitor(
  sql: Sql,
  businessId: string,
  contactId: string,
  {
    visitorId = uuidv7(),
    from = 0,
    first,
    latest,
  }: { visitorId?: string; from?: number; first?: Visit; latest?: Visit },
): Promise<string> {
  const touch = (visit?: Visit) => visit && { url: 'https://shop.example/', ...visit }
  await sql`
    insert into visitors (business_id, visitor_id, contact_id, linked_at) values (${businessId}, ${visitorId}, ${contactId}, ${from})
    on conflict do nothing`
  const seen = {
    business_id: businessId,
    visitor_id: visitorId,
    first_touch: touch(first),
    latest_touch: touch(latest),
  }
  await sql`select see_visitors(${JSON.stringify([seen])}::text::json)`
  await sql`
    insert into visitor_links (business_id, visitor_id, from_at, contact_id)
    values (${businessId}, ${visitorId}, ${from}, ${contactId})`
  await sql`
    insert into contact_visitors (business_id, contact_id, visitor_id, linked_at)
    values (${businessId}, ${contactId}, ${visitorId}, ${from}) on conflict do nothing`
  return visitorId
}

export interface Row {
  destination_id: string
  contact_id: string
  event: string
  type: string
  state: string
  attempts: number
  last_error: string | null
  amount: string | null
  currency: string | null
  wait_seconds: number
}

export async function readDeliveries(sql: Sql, businessId: string): Promise<Row[]> {
  return sql<Row[]>`
    select destination_id, contact_id, event, type, state, attempts, last_error, amount::text as amount, currency,
      extract(epoch from next_attempt_at - now())::float8 as wait_seconds
    from deliveries where business_id = ${businessId} order by id`
}

/** Makes waiting deliveries due now. */
export async function makeDue(sql: Sql, businessId: string): Promise<void> {
  await sql`update deliveries set next_attempt_at = now() where business_id = ${businessId} and state = 'queued'`
  await sql`update destinations set held_until = '-infinity' where business_id = ${businessId}`
}
