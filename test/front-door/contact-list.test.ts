/** The list of contacts, through the whole service (decisions, "Reading back"). */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { ContactListData } from '../../src/front-door/routes/contacts/reply-schemas.ts'
import { openService } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { country: 'IL' })
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]

async function sent(path: string, json: object): Promise<string> {
  const { status, body } = await ask('POST', path, json)
  expect(status).toBe(200)
  return String(body.data['contactId'])
}
const track = (json: object) => sent('/api/sdk/track', { event: 'e', ...json })
const identify = (json: object) => sent('/api/sdk/identify', json)

async function list(query: string): Promise<{ contacts: Record<string, unknown>[]; nextCursor: string | null }> {
  return dataOf(ContactListData, await ask('GET', `/api/contacts?${query}`)) as never
}
const idsOf = async (query: string) => (await list(query)).contacts.map(({ contactId }) => contactId)

test('a contact is listed at once, with what a list shows', async () => {
  expect(await list('')).toEqual({ contacts: [], nextCursor: null })
  const first = await track({ identity: { email: 'first@example.com' } })
  const identity = { email: 'Ada@example.com', phone: '050-123-4567', platformCustomerId: 42 }
  const contactId = await identify({ identity, profile: { name: 'Ada Lovelace', city: 'London' } })
  await track({ event: 'invoice_paid', identity, value: 10, tags: ['vip'], traits: { plan: 'pro' } })
  await ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email: true, method: 'form' })
  const { contacts, nextCursor } = await list('')
  expect(contacts.map((contact) => contact['contactId'])).toEqual([contactId, first])
  expect(nextCursor).toBeNull()
  const whole = (await ask('GET', `/api/contacts/${contactId}`)).body.data['contact'] as Record<string, unknown>
  expect(contacts[0]).toEqual(Object.fromEntries(Object.keys(contacts[0] ?? {}).map((key) => [key, whole[key]])))
  expect(contacts[0]).toMatchObject({
    firstName: 'Ada',
    tags: ['vip'],
    stage: 'Decision',
    orderCount: 1,
    revenue: { total: 10 },
    identities: { phone: ['+972501234567'] },
    subscriptions: { email: true },
  })
})

test('it is found by part of its name or identities, by tag and by stage', async () => {
  const ada = await identify({
    identity: { email: 'Ada@example.com', phone: '050-123-4567', platformCustomerId: 'U-42' },
    profile: { name: 'Ada Lovelace' },
  })
  const bob = await track({ event: 'invoice_paid', identity: { email: '100%_bob@example.org' }, tags: ['vip'] })
  for (const query of ['LOVEL', 'da lo', 'a@EXAM', '050-123', '%2B97250', '0123', 'u-4', 'L', 'ad', 'u-42'])
    expect([query, await idsOf(`query=${encodeURIComponent(decodeURIComponent(query))}`)]).toEqual([query, [ada]])
  for (const query of ['%', '0%_', '100', 'query=']) {
    const sought = query === 'query=' ? query : `query=${encodeURIComponent(query)}`
    expect([query, await idsOf(`${sought}&tag=vip`)]).toEqual([query, query === '%' ? [] : [bob]])
  }
  for (const query of ['ove_', 'zz', 'ovelac%', 'da'])
    expect(await idsOf(`query=${encodeURIComponent(query)}`)).toEqual([])
  expect(await idsOf('tag=vip')).toEqual([bob])
  expect(await idsOf('tag=VIP')).toEqual([])
  expect(await idsOf('stage=Decision')).toEqual([bob])
  expect(await idsOf('stage=awareness')).toEqual([ada])
  expect(await idsOf('query=example&limit=1')).toEqual([bob])
  const { nextCursor } = await list('query=example&limit=1')
  expect(await list(`query=example&limit=1&cursor=${nextCursor}`)).toMatchObject({
    contacts: [{ contactId: ada }],
    nextCursor: null,
  })
})

test('a merged contact is not listed, nor one that was erased', async () => {
  const first = await track({ identity: { email: 'a@x.io' } })
  const second = await track({ identity: { phone: '0501234567' } })
  const third = await track({ identity: { email: 'c@x.io' } })
  expect(await idsOf('')).toEqual([third, second, first])
  await track({ identity: { email: 'a@x.io', phone: '0501234567' } })
  await ask('DELETE', `/api/contacts/${third}`)
  expect(await idsOf('')).toEqual([first])
  expect(await idsOf('query=050123')).toEqual([first])
  expect(await idsOf('query=c@x')).toEqual([])
})

test('an invalid parameter is refused by its name', async () => {
  for (const [query, path] of [
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['cursor=x', 'cursor'],
    ['stage=Purchase', 'stage'],
    [`query=${'x'.repeat(257)}`, 'query'],
    [`tag=${'x'.repeat(65)}`, 'tag'],
    ['query=a%00b', 'query'],
    ['tag=a%00b', 'tag'],
  ] as const) {
    const answer = await ask('GET', `/api/contacts?${query}`)
    expect([query, ...code(answer), answer.body.error?.issues?.[0]?.path]).toEqual([
      query,
      400,
      'invalid_request',
      path,
    ])
  }
  expect((await list(`query=${'x'.repeat(256)}&tag=${'x'.repeat(64)}&limit=500&other=later`)).contacts).toEqual([])
})
