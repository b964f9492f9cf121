/** Names of contacts by their ids, and the members of a segment for a CSV file, over real HTTP. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let service: Service
let business: TestBusiness
let analyst: SessionClient
beforeAll(async () => {
  service = await openService()
  business = await createBusiness(service.sql)
  await addUser(service.sql, 'owner@x.io', { businessId: business.businessId, role: 'owner' })
  await addUser(service.sql, 'analyst@x.io', { businessId: business.businessId, role: 'analyst' })
  analyst = await signIn(service, 'analyst@x.io')
})
afterAll(() => service.close())

const ask = (method: string, path: string, json?: object) =>
  analyst.send(method, `/b/${business.businessId}${path}`, json)

async function send(
  path: string,
  json: object,
  { secretKey }: TestBusiness = business,
): Promise<{ contactId: string }> {
  const response = await fetch(`${service.url}/api/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(json),
  })
  const body = (await response.json()) as { data: { contactId: string } }
  expect([path, response.status, body]).toMatchObject([path, 200, {}])
  return body.data
}

it('names the contacts of the business that are there', async () => {
  const { contactId: ann } = await send('sdk/identify', {
    identity: { email: 'ann@x.io' },
    profile: { name: 'Ann Archer' },
  })
  const { contactId: bob } = await send('sdk/identify', { identity: { phone: '+972541234567' } })
  const { contactId: merged } = await send('sdk/identify', { identity: { platformCustomerId: 'c-1' } })
  await send('sdk/identify', { identity: { platformCustomerId: 'c-1', email: 'ann@x.io' } })
  const { contactId: other } = await send(
    'sdk/identify',
    { identity: { email: 'o@x.io' } },
    await createBusiness(service.sql),
  )
  const contactIds = [bob, ann, merged, other, randomUUID(), 'no-id']
  const { data } = await ask('POST', '/contacts/names', { contactIds })
  expect(data['contacts']).toHaveLength(2)
  expect(data['contacts']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        contactId: bob,
        firstName: null,
        identities: expect.objectContaining({ phone: ['+972541234567'] }) as unknown,
      }),
      expect.objectContaining({ firstName: 'Ann', lastName: 'Archer' }),
    ]),
  )
  expect((await ask('POST', '/contacts/names', { contactIds: [] })).data).toEqual({ contacts: [] })
  expect((await ask('POST', '/contacts/names', { contactIds: Array(501).fill(ann) })).code).toBe('invalid_request')
})

it('exports members page by page, once in the audit log', async () => {
  const { segment } = (await send('segments', { name: 'VIP', rule: { tag: 'vip', operator: 'has' } })) as unknown as {
    segment: { segmentId: string }
  }
  const { segmentId } = segment
  for (const name of ['a', 'b', 'c']) {
    await send('sdk/track', { event: 'e', identity: { email: `${name}@y.io` }, tags: ['vip'] })
  }
  const path = `/segments/${segmentId}/export`
  await expect.poll(async () => (await ask('GET', path)).data['members'], { timeout: PATIENCE_MS }).toHaveLength(3)
  await service.sql`delete from audit_log where action = 'segment.export'`
  const first = (await ask('GET', `${path}?limit=2`)).data
  const second = (await ask('GET', `${path}?limit=2&cursor=${String(first['nextCursor'])}`)).data
  expect(second['nextCursor']).toBe(null)
  const members = [first, second].flatMap((page) => page['members'] as { identities: { email: string[] } }[])
  expect(members.map(({ identities }) => identities.email[0] ?? '').toSorted()).toEqual(['a@y.io', 'b@y.io', 'c@y.io'])
  const logged = await service.sql`select actor_name as name, target from audit_log where action = 'segment.export'`
  expect(logged).toEqual([{ name: 'analyst@x.io', target: segmentId }])
  expect((await ask('GET', `${path}?cursor=x`)).code).toBe('invalid_request')
  expect((await ask('GET', `/segments/${randomUUID()}/export`)).code).toBe('not_found')
})
