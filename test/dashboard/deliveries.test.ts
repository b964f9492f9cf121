/** Deliveries in the dashboard: permissions, paging and retries, over real HTTP. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from 'uuidv7'
import { listAudit } from '../../src/audit/audit.ts'
import { addDestination, newDestinationId } from '../../src/deliveries/destinations.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let businessId: string
let destinationId: string
let theirDelivery: string
let owner: SessionClient
let reader: SessionClient
const made: string[] = []

beforeAll(async () => {
  service = await openService()
  const { sql } = service
  ;({ businessId } = await createBusiness(sql))
  await addUser(sql, 'owner@x.io', { businessId, role: 'owner' })
  await addUser(sql, 'reader@x.io', { businessId, role: 'read-only' })
  owner = await signIn(service, 'owner@x.io')
  reader = await signIn(service, 'reader@x.io')
  destinationId = await addWebhook(businessId)
  for (const state of ['sent', 'dead', 'dead', 'queued'] as const)
    made.unshift(await addDelivery(businessId, destinationId, state))
  const { businessId: other } = await createBusiness(sql)
  theirDelivery = await addDelivery(other, await addWebhook(other), 'dead')
})
afterAll(() => service.close())

/** Nobody listens there, and it is paused, so only the test changes its deliveries. */
async function addWebhook(ofBusiness: string): Promise<string> {
  const id = newDestinationId()
  const settings = { url: 'http://127.0.0.1:9/hook?token=t' }
  const one = { id, businessId: ofBusiness, kind: 'webhook', name: 'CRM', types: ['lead'], settings } as const
  await addDestination(service.sql, { ...one, types: ['lead'], secret: 'sealed' })
  await service.sql`update destinations set active = false where id = ${id}`
  return id
}

async function addDelivery(ofBusiness: string, to: string, state: 'sent' | 'dead' | 'queued'): Promise<string> {
  const id = uuidv7()
  await service.sql`
    insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state,
      attempts, last_error, next_attempt_at, settled_at)
    values (${ofBusiness}, ${id}, ${to}, ${uuidv7()}, ${uuidv7()}, '<b>lead</b>', 'lead', 0, '{}', ${state}, 10,
      ${state === 'sent' ? null : 'HTTP 500'}, now() + interval '1 hour', ${state === 'queued' ? null : new Date()})`
  return id
}

const path = (rest: string) => `/b/${businessId}${rest}`
const list = async (client: SessionClient, query = '') =>
  (await client.send('GET', path(`/deliveries${query}`))).data as {
    deliveries: { id: string; state: string; attempts: number; contactId: string | null; lastReason: string | null }[]
    nextCursor: string | null
  }

it('lists them newest first, in pages without gaps', async () => {
  const first = await list(owner, '?limit=3')
  expect(first.deliveries.map(({ id }) => id)).toEqual(made.slice(0, 3))
  const last = await list(owner, `?limit=3&cursor=${first.nextCursor}`)
  expect(last.deliveries.map(({ id }) => id)).toEqual(made.slice(3))
  expect(last.nextCursor).toBeNull()
})

it('filters by state and destination, and refuses filters that mean nothing', async () => {
  expect((await list(owner, '?state=dead')).deliveries.map(({ id }) => id)).toEqual(made.slice(1, 3))
  expect((await list(owner, `?destinationId=${destinationId}`)).deliveries).toHaveLength(4)
  expect((await list(owner, `?destinationId=${uuidv7()}`)).deliveries).toEqual([])
  for (const query of ['state=lost', 'destinationId=1', 'cursor=1', 'limit=501'])
    expect((await owner.send('GET', path(`/deliveries?${query}`))).code).toBe('invalid_request')
})

it('shows neither contacts nor settings to who may only read lists', async () => {
  const [seen] = (await list(reader)).deliveries
  expect(seen).toMatchObject({ contactId: null, lastReason: 'HTTP 500' })
  expect((await list(owner)).deliveries[0]?.contactId).not.toBeNull()
  const read = async (client: SessionClient) => JSON.stringify((await client.send('GET', path('/destinations'))).data)
  expect(await read(reader)).toContain('"settings":null')
  expect(await read(owner)).toContain('token=t')
  expect(await read(owner)).not.toContain('sealed')
})

it('shows the attempts of one, newest first, and none of others', async () => {
  const [, dead = ''] = made
  const log = [
    { at: '2026-01-01T10:00:00.123456+00:00', outcome: 'retry', reason: 'HTTP 500' },
    { at: '2026-01-01T10:01:00+00:00', outcome: 'dead', reason: 'HTTP 422' },
  ]
  await service.sql`update deliveries set attempt_log = ${JSON.stringify(log)}::text::jsonb where id = ${dead}`
  const read = async (client: SessionClient, id: string) => client.send('GET', path(`/deliveries/${id}/attempts`))
  for (const client of [owner, reader]) {
    expect((await read(client, dead)).data).toEqual({
      attempts: [
        { at: '2026-01-01T10:01:00.000Z', outcome: 'dead', reason: 'HTTP 422' },
        { at: '2026-01-01T10:00:00.123Z', outcome: 'retry', reason: 'HTTP 500' },
      ],
    })
  }
  for (const id of [theirDelivery, uuidv7(), 'no-id']) expect((await read(owner, id)).code).toBe('not_found')
})

it('makes one due again that was given up, with all its tries, and none that was sent or is of others', async () => {
  const [, dead = '', , sent = ''] = made
  const retry = (deliveryId: string) => owner.send('POST', path('/deliveries/retry'), { deliveryId })
  expect((await retry(dead)).data).toEqual({ retried: 1 })
  expect((await list(owner)).deliveries[1]).toMatchObject({ id: dead, state: 'queued', attempts: 0 })
  for (const id of [sent, theirDelivery, uuidv7(), 'no-id']) expect((await retry(id)).code).toBe('not_found')
  const [entry, ...others] = await listAudit(service.sql, { businessId, before: null, limit: 5 })
  expect(entry).toMatchObject({ action: 'delivery.retry', actorName: 'owner@x.io', target: dead })
  expect(others).toEqual([])
})

it('makes all due again that were given up, only in this business, and only by an explicit request', async () => {
  expect((await owner.send('POST', path('/deliveries/retry'), {})).code).toBe('invalid_request')
  expect((await owner.send('POST', path('/deliveries/retry'), { all: true, destinationId })).data).toEqual({
    retried: 1,
  })
  expect((await list(owner, '?state=dead')).deliveries).toEqual([])
  const [theirs] = await service.sql<{ state: string }[]>`select state from deliveries where id = ${theirDelivery}`
  expect(theirs?.state).toBe('dead')
})
