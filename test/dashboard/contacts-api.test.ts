/** Contacts in the dashboard's API, over real HTTP: permissions, filters, changes, export, saved views. */
import { type IncomingHttpHeaders, get } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { draftCampaign } from '../support/campaigns.ts'
import { COUNT_KEPT_MS, createRememberedCount } from '../../src/contacts/read/remember-counts.ts'
import { MAX_VIEWS } from '../../src/contacts/saved-views.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let business: string
let secretKey: string
const clients = {} as Record<'owner' | 'marketer' | 'analyst' | 'read-only', SessionClient>
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ businessId: business, secretKey } = await createBusiness(service.sql))
  for (const role of ['owner', 'marketer', 'analyst', 'read-only'] as const) {
    await addUser(service.sql, `${role}@x.io`, { businessId: business, role })
    clients[role] ??= await signIn(service, `${role}@x.io`)
  }
})

const ask = (role: keyof typeof clients, method: string, path: string, json?: unknown) =>
  clients[role].send(method, `/b/${business}${path}`, json)

/** Returns the body as it was sent, perhaps compressed. */
const askRaw = (path: string, headers: Record<string, string>) =>
  new Promise<{ headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const url = `${service.url}/dashboard/api/b/${business}${path}`
    get(url, { headers: { Cookie: clients.analyst.cookie(), ...headers } }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(chunks) }))
    }).on('error', reject)
  })

async function post(path: string, json: object): Promise<string> {
  const response = await fetch(`${service.url}/api/sdk/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(json),
  })
  const body = (await response.json()) as { data: { contactId: string } }
  expect([response.status, body]).toMatchObject([200, {}])
  return body.data.contactId
}
const track = (email: string, more: object = {}) => post('track', { event: 'visited', identity: { email }, ...more })

const audit = async () =>
  (
    await service.sql<{ action: string; target: string; fields: string[] | null }[]>`
      select action, target, details -> 'fields' as fields from audit_log where business_id = ${business} order by id`
  ).map(({ action, target, fields }) => [action, target, fields])

type Listed = { contactId: string; firstName: string | null; identities: { email: string[] } }[]
const listed = async (role: keyof typeof clients, query = '') =>
  (await ask(role, 'GET', `/contacts${query}`)).data['contacts'] as Listed

describe('the list', () => {
  it('filters by text, stage, tag and custom field, whatever the type of the field', async () => {
    const ada = await track('ada@x.io', { traits: { plan: 'pro', seats: 5, paying: true }, tags: ['vip'] })
    const bob = await track('bob@x.io', { traits: { plan: 'free', seats: 50 }, event: 'purchase', value: 5 })
    const found = async (query: string) => (await listed('analyst', query)).map(({ contactId }) => contactId)
    expect(await found('')).toEqual([bob, ada])
    expect(await found('?query=ADA')).toEqual([ada])
    expect(await found('?tag=vip')).toEqual([ada])
    expect(await found('?stage=Awareness')).toEqual([ada])
    expect(await found('?field=plan&value=free')).toEqual([bob])
    expect(await found('?field=seats&value=5')).toEqual([ada])
    expect(await found('?field=paying&value=true')).toEqual([ada])
    expect(await found('?field=plan&value=pr')).toEqual([])
    expect(await found('?field=plan&value=pro&query=bob')).toEqual([])
    const counts = ['', '?query=x.io', '?field=plan&value=pro'].map(async (query) => {
      return (await ask('analyst', 'GET', `/contacts/count${query}`)).data
    })
    expect(await Promise.all(counts)).toEqual([2, 2, 1].map((count) => ({ count, kind: 'exact' })))
    const page = await ask('analyst', 'GET', '/contacts?limit=1')
    expect(await found(`?limit=1&cursor=${String(page.data['nextCursor'])}`)).toEqual([ada])
  })

  it('comes compressed, the same as it is', async () => {
    for (const name of ['ada', 'bob', 'cleo', 'dan', 'eve']) await track(`${name}@x.io`)
    const plain = await askRaw('/contacts', {})
    const packed = await askRaw('/contacts', { 'Accept-Encoding': 'gzip, br' })
    expect([plain.headers['content-encoding'], plain.headers['vary']]).toEqual([undefined, 'Accept-Encoding'])
    expect(packed.headers).toMatchObject({
      'content-encoding': 'gzip',
      'content-length': String(packed.body.length),
      'content-type': plain.headers['content-type'],
      vary: 'Accept-Encoding',
      'cache-control': 'no-store',
    })
    expect(packed.body.length).toBeLessThan(plain.body.length / 2)
    expect(gunzipSync(packed.body)).toEqual(plain.body)
    expect(JSON.parse(plain.body.toString())).toMatchObject({ success: true, data: { nextCursor: null } })
  })

  it('is counted again at once while the number is exact, and after some seconds when it is not', async () => {
    const count = async (query = '') => (await ask('analyst', 'GET', `/contacts/count${query}`)).data
    const insert = (from: number, to: number) => service.sql`
      insert into contacts (business_id, id, created_at, keyed)
      select ${business}, gen_random_uuid(), n, true from generate_series(${from}::bigint, ${to}::bigint) n`
    await insert(1, 9_999)
    expect(await count()).toEqual({ count: 9_999, kind: 'exact' })
    await insert(10_000, 10_000)
    expect(await count()).toEqual({ count: 10_000, kind: 'exact' })
    await insert(10_001, 10_001)
    const first = await count()
    expect(first).toMatchObject({ kind: 'estimate' })
    await service.sql`delete from contacts where business_id = ${business} and created_at > 5000`
    expect(await count()).toEqual(first)
    expect(await count('?stage=Awareness')).not.toEqual(first)
  })

  it('is counted once for all who ask at once, apart for each business, and again after some seconds', async () => {
    let clock = 0
    const count = createRememberedCount(() => clock)
    const [{ businessId: full }, { businessId: empty }] = [
      await createBusiness(service.sql),
      await createBusiness(service.sql),
    ]
    const all = { query: null, tag: null, stage: null, segment: null, field: null }
    await service.sql`
      insert into contacts (business_id, id, created_at, keyed)
      select ${full}, gen_random_uuid(), n, true from generate_series(1, 10001) n`
    const [first, second] = [count(service.sql, full, all), count(service.sql, full, all)]
    expect(second).toBe(first)
    expect(await first).toMatchObject({ kind: 'estimate' })
    await service.sql`delete from contacts where business_id = ${full} and created_at > 7`
    expect(await count(service.sql, empty, all)).toEqual({ count: 0, kind: 'exact' })
    clock = COUNT_KEPT_MS - 1
    expect(await count(service.sql, full, all)).toEqual(await first)
    clock = COUNT_KEPT_MS
    expect(await count(service.sql, full, all)).toEqual({ count: 7, kind: 'exact' })
  })

  it('refuses filters that are no filters, at the field', async () => {
    const paths = async (query: string) =>
      (await ask('analyst', 'GET', `/contacts?${query}`)).issues.map(({ path }) => path)
    expect(await paths('field=plan')).toEqual(['value'])
    expect(await paths('value=plan')).toEqual(['field'])
    expect(await paths(`field=${'a'.repeat(64)}&value=${'a'.repeat(256)}`)).toEqual([])
    expect(await paths(`field=${'a'.repeat(65)}&value=${'a'.repeat(257)}`)).toEqual(['field', 'value'])
    expect(await paths('stage=none')).toEqual(['stage'])
    expect(await paths('cursor=x')).toEqual(['cursor'])
  })

  it('shows a read-only person no names and no addresses, nor lets them be guessed', async () => {
    await post('identify', { identity: { email: 'ada@x.io', phone: '+972501234567' }, profile: { name: 'Ada King' } })
    const everything = JSON.stringify(await ask('read-only', 'GET', '/contacts'))
    expect(everything).toContain('"stage"')
    expect(everything).not.toMatch(/ada|King|97250/i)
    for (const query of ['query=ada', 'field=plan&value=pro']) {
      expect((await ask('read-only', 'GET', `/contacts?${query}`)).code).toBe('not_permitted')
      expect((await ask('read-only', 'GET', `/contacts/count?${query}`)).code).toBe('not_permitted')
    }
    expect((await listed('analyst'))[0]).toMatchObject({ firstName: 'Ada', identities: { email: ['ada@x.io'] } })
  })
})

describe('a contact', () => {
  it('comes with consent, merges, campaigns and fields', async () => {
    const campaign = { name: 'Welcome', trigger: { event: 'called' }, canEnterAgain: false, goalEvent: null }
    const made = await draftCampaign(service.sql, business, campaign)
    const ada = await track('ada@x.io', { traits: { plan: 'pro' } })
    const other = await post('track', { event: 'called', identity: { phone: '+972501234567' } })
    const survivor = await post('identify', { identity: { email: 'ada@x.io', phone: '+972501234567' } })
    await service.sql`
      insert into enrolments (business_id, id, campaign_id, contact_id, state, enrolled_at, received_at)
      values (${business}, ${ada}, ${made}, ${survivor}, 'active', 1, 1)`
    await ask('marketer', 'PUT', `/contacts/${ada}/subscriptions`, { email: true, method: 'by phone' })
    const { data } = await ask('analyst', 'GET', `/contacts/${other}`)
    expect(data).toMatchObject({
      contact: { contactId: survivor, identities: { email: ['ada@x.io'], phone: ['+972501234567'] } },
      consents: [{ channel: 'email', subscribed: true, method: 'by phone' }],
      merges: [{ action: 'merged', losingId: survivor === ada ? other : ada }],
      campaignNames: { [made]: 'Welcome' },
      fields: [{ key: 'plan', type: 'Text' }],
    })
    expect((await ask('read-only', 'GET', `/contacts/${ada}`)).code).toBe('not_permitted')
  })

  it('shows every choice of consent and when each stage was reached, also those of a merged contact', async () => {
    const ada = await track('ada@x.io', { event: 'add_to_cart' })
    const path = `/contacts/${ada}/subscriptions`
    await ask('marketer', 'PUT', path, { email: true, sms: false, method: 'by phone' })
    await ask('marketer', 'PUT', path, { email: false, method: 'dashboard' })
    const other = await post('track', { event: 'purchase', value: 5, identity: { phone: '+972501234567' } })
    await ask('marketer', 'PUT', `/contacts/${other}/subscriptions`, { whatsapp: true, method: 'at the desk' })
    await post('identify', { identity: { email: 'ada@x.io', phone: '+972501234567' } })
    const { data } = await ask('analyst', 'GET', `/contacts/${ada}`)
    const choices = data['consentHistory'] as { channel: string; subscribed: boolean; method: string }[]
    expect(choices.map(({ channel, subscribed, method }) => `${channel} ${subscribed} ${method}`).toSorted()).toEqual([
      'email false dashboard',
      'email true by phone',
      'sms false by phone',
      'whatsapp true at the desk',
    ])
    expect(choices.filter(({ channel }) => channel === 'email').map(({ subscribed }) => subscribed)).toEqual([
      false,
      true,
    ])
    const stages = data['stages'] as { stage: string; event: string | null }[]
    expect(stages.map(({ stage, event }) => [stage, event])).toEqual([
      ['Consideration', 'add_to_cart'],
      ['Decision', 'purchase'],
    ])
    await ask('owner', 'DELETE', `/contacts/${ada}`)
    const [left] = await service.sql`select count(*)::int as n from consent_history where business_id = ${business}`
    expect(left).toEqual({ n: 0 })
  })

  it('has a timeline by name and meaning, before it is shipped and after', async () => {
    const id = await track('ada@x.io')
    await track('ada@x.io', { event: 'paid', value: 5 })
    const found = async (query: string) => {
      const { data } = await ask('analyst', 'GET', `/contacts/${id}/timeline?${query}`)
      return (data['events'] as { event: string }[]).map(({ event }) => event)
    }
    for (const ship of [() => Promise.resolve(), () => service.shipped()]) {
      await ship()
      expect(await found('')).toEqual(['paid', 'visited'])
      expect(await found('type=purchase')).toEqual(['paid'])
      expect(await found('type=none')).toEqual(['visited'])
      expect(await found('event=visited')).toEqual(['visited'])
      expect(await found('event=visited&type=purchase')).toEqual([])
    }
    const wrong = await ask('analyst', 'GET', `/contacts/${id}/timeline?type=any&event=${'e'.repeat(257)}`)
    expect(wrong.issues.map(({ path }) => path)).toEqual(['event', 'type'])
    expect((await ask('analyst', 'GET', `/contacts/${id}/visits`)).data).toEqual({ visits: [], nextCursor: null })
  })

  it('is changed and erased by those who may, and the log says by whom', async () => {
    const id = await track('ada@x.io')
    expect((await ask('analyst', 'PATCH', `/contacts/${id}`, { addTags: ['vip'] })).code).toBe('not_permitted')
    const edit = { profile: { firstName: 'Ada' }, traits: { plan: 'pro' }, addTags: ['vip'] }
    expect((await ask('marketer', 'PATCH', `/contacts/${id}`, edit)).data['contact']).toMatchObject({ tags: ['vip'] })
    const wrong = await ask('marketer', 'PATCH', `/contacts/${id}`, { profile: { language: 'no language' } })
    expect(wrong.issues.map(({ path }) => path)).toEqual(['profile.language'])
    await ask('marketer', 'PUT', `/contacts/${id}/subscriptions`, { sms: false, method: 'asked' })
    expect((await ask('marketer', 'DELETE', `/contacts/${id}`)).code).toBe('not_permitted')
    await service.sql`update sessions set confirmed_at = now() - interval '11 minutes'`
    expect((await ask('owner', 'DELETE', `/contacts/${id}`)).code).toBe('confirmation_required')
    await service.sql`update sessions set confirmed_at = now()`
    expect((await ask('owner', 'DELETE', `/contacts/${id}`)).data).toEqual({ contactId: id })
    expect((await ask('owner', 'GET', `/contacts/${id}`)).code).toBe('not_found')
    expect(await audit()).toEqual([
      ['contact.edit', id, ['firstName', 'plan', 'tags']],
      ['contact.consent', id, ['sms']],
      ['contact.erase', id, null],
    ])
  })

  it('gives a slot back for each change', async () => {
    const id = await track('ada@x.io')
    for (let n = 0; n < 8; n += 1) {
      expect((await ask('marketer', 'PATCH', `/contacts/${id}`, { addTags: [`tag ${n}`] })).status).toBe(200)
    }
  })

  it('is exported as one JSON text with every event', async () => {
    const id = await track('ada@x.io', { traits: { plan: 'pro' } })
    await track('ada@x.io', { event: 'paid', value: 5, properties: { text: '"],}\u2028' } })
    await post('identify', { identity: { email: 'ada@x.io' } })
    await service.shipped()
    const path = `${service.url}/dashboard/api/b/${business}/contacts/${id}/export`
    const get = (role: keyof typeof clients) => fetch(path, { headers: { Cookie: clients[role].cookie() } })
    expect((await get('read-only')).status).toBe(403)
    const response = await get('analyst')
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="contact-${id}.json"`)
    expect(await response.json()).toMatchObject({
      contact: { contactId: id, customFields: { plan: 'pro' }, consents: [], merges: [] },
      identifications: [{ keyed: true }],
      timeline: [{ event: 'paid', properties: { text: '"],}\u2028' } }, { event: 'visited' }],
      visits: [],
    })
    expect(await audit()).toEqual([['contact.export', id, null]])
  })
})

describe('saved views', () => {
  const save = (name: string, filters: object, role: keyof typeof clients = 'marketer') =>
    ask(role, 'POST', '/contact-views', { name, filters })
  const names = async (role: keyof typeof clients) =>
    ((await ask(role, 'GET', '/contact-filters')).data['views'] as { name: string }[]).map(({ name }) => name)

  it('are shared, changed and deleted', async () => {
    const { data } = await save('VIPs', { tag: 'vip' })
    const { id } = data['view'] as { id: string }
    await save('Ada', { query: 'ada@x.io' })
    expect(await names('analyst')).toEqual(['Ada', 'VIPs'])
    expect(await names('read-only')).toEqual(['VIPs'])
    expect((await save('VIPs', { tag: 'other' })).issues.map(({ path }) => path)).toEqual(['name'])
    const put = await ask('marketer', 'PUT', `/contact-views/${id}`, { name: 'Best', filters: { stage: 'Advocacy' } })
    expect(put.data['view']).toEqual({ id, name: 'Best', filters: { stage: 'Advocacy' } })
    const taken = await ask('marketer', 'PUT', `/contact-views/${id}`, { name: 'Ada', filters: { tag: 'vip' } })
    const renamed = await ask('marketer', 'PUT', `/contact-views/${id}`, { name: 'Better' })
    expect(renamed.data['view']).toEqual({ id, name: 'Better', filters: { stage: 'Advocacy' } })
    const filtered = await ask('marketer', 'PUT', `/contact-views/${id}`, { filters: { tag: 'new' } })
    expect(filtered.data['view']).toEqual({ id, name: 'Better', filters: { tag: 'new' } })
    expect((await ask('marketer', 'PUT', `/contact-views/${id}`, {})).status).toBe(400)
    expect((await ask('marketer', 'PUT', `/contact-views/${id}`, { filters: {} })).issues).toMatchObject([
      { path: 'filters' },
    ])
    expect(taken.issues.map(({ path }) => path)).toEqual(['name'])
    expect((await ask('marketer', 'DELETE', `/contact-views/${id}`)).status).toBe(200)
    expect((await ask('marketer', 'DELETE', `/contact-views/${id}`)).code).toBe('not_found')
    expect(await names('analyst')).toEqual(['Ada'])
    expect((await audit()).map(([action]) => action)).toEqual([
      'view.create',
      'view.create',
      'view.update',
      'view.update',
      'view.update',
      'view.delete',
    ])
  })

  it('have a name and at least one true filter', async () => {
    const paths = async (name: string, filters: object) => (await save(name, filters)).issues.map(({ path }) => path)
    expect(await paths('a'.repeat(100), { tag: 'vip' })).toEqual([])
    expect(await paths('a'.repeat(101), { tag: 'vip' })).toEqual(['name'])
    expect(await paths(' ', { tag: 'vip' })).toEqual(['name'])
    expect(await paths('none', {})).toEqual(['filters'])
    expect(await paths('half', { field: 'plan' })).toEqual(['value'])
    expect(await paths('wrong', { stage: 'none' })).toEqual(['stage'])
  })

  it(`are at most ${MAX_VIEWS}, also when saved at the same time`, async () => {
    await service.sql`
      insert into saved_views (business_id, id, name, filters)
      select ${business}, gen_random_uuid(), 'view ' || n, '{"tag":"vip"}' from generate_series(1, ${MAX_VIEWS - 1}) as n`
    const answers = await Promise.all(['x', 'y', 'z'].map((name) => save(name, { tag: 'vip' })))
    expect(answers.filter(({ code }) => code === 'limit_reached')).toHaveLength(2)
  })
})
