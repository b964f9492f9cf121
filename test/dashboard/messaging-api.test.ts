/** Templates, channels and suppressions in the dashboard's API: by role, and what exists only for its pages. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ROLES } from '../../src/accounts/rights.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let business: string
const clients = new Map<string, SessionClient>()
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ businessId: business } = await createBusiness(service.sql))
  for (const role of ROLES) {
    const email = `${role}-${business}@x.io`
    await addUser(service.sql, email, { businessId: business, role })
    clients.set(role, await signIn(service, email))
  }
})

const as = (role: (typeof ROLES)[number]) => (method: string, path: string, json?: unknown) =>
  clients.get(role)!.send(method, `/b/${business}${path}`, json)

async function readHtml(role: (typeof ROLES)[number], path: string): Promise<Response> {
  const headers = { Cookie: clients.get(role)!.cookie(), 'Sec-Fetch-Site': 'same-origin' }
  return fetch(`${service.url}/dashboard/api/b/${business}/templates/${path}`, { headers })
}

async function make(variants: object, channel = 'email'): Promise<string> {
  const wanted = { name: 'Welcome', channel, variants, defaultLanguage: 'en' }
  const { data } = await as('marketer')('POST', '/templates', wanted)
  return (data['template'] as { templateId: string }).templateId
}

const HTML = {
  en: { subject: 'Hi', html: '<p>Hello {{contact.firstName}}</p>' },
  de: { subject: 'Hallo', html: '<p>Hallo</p>' },
}

test('those who only read see the list of templates, and no texts; changes are for marketers', async () => {
  const id = await make(HTML)
  const listed = await as('read-only')('GET', '/templates')
  expect(listed.data).toMatchObject({ templates: [{ templateId: id, languages: ['de', 'en'] }] })
  expect(JSON.stringify(listed.data)).not.toContain('Hello')
  expect((await as('read-only')('GET', `/templates/${id}`)).code).toBe('not_permitted')
  expect((await as('analyst')('GET', `/templates/${id}`)).data).toMatchObject({ template: { variants: HTML } })
  for (const [method, path] of [
    ['POST', '/templates'],
    ['PATCH', `/templates/${id}`],
    ['DELETE', `/templates/${id}`],
    ['POST', '/channels/email/test'],
  ] as const) {
    expect((await as('analyst')(method, path, method === 'DELETE' ? undefined : {})).code).toBe('not_permitted')
    expect((await as('marketer')(method, path, method === 'DELETE' ? undefined : {})).code).not.toBe('not_permitted')
  }
})

test('which campaigns name a template is said once for each, and not of archived ones', async () => {
  const [first, second, unused] = [await make(HTML), await make(HTML), await make(HTML)]
  const step = (template: string) => ({ type: 'send', channel: 'email', template })
  const branch = {
    type: 'wait_for',
    event: 'x',
    timeout: 'P1D',
    steps: [step(first), step(second)],
    otherwise: [step(first)],
  }
  const ids: string[] = []
  for (const steps of [[branch], [step(first)], [step(second)]]) {
    const { data } = await as('marketer')('POST', '/campaigns', { name: 'C', trigger: { event: 'signup' }, steps })
    ids.push((data['campaign'] as { campaignId: string }).campaignId)
  }
  await as('marketer')('POST', `/campaigns/${ids[2]}/publish`)
  await as('marketer')('POST', `/campaigns/${ids[2]}/archive`)
  const { data } = await as('read-only')('GET', '/template-uses')
  const uses = data['uses'] as { templateId: string; campaignId: string; name: string }[]
  const of = (templateId: string) => uses.filter((use) => use.templateId === templateId).map((use) => use.campaignId)
  expect([of(first), of(second), of(unused)]).toEqual([[ids[0], ids[1]], [ids[0]], []])
  expect(uses[0]?.name).toBe('C')
  // It stays in use although a later version does not contain it.
  await as('marketer')('POST', `/campaigns/${ids[0]}/publish`)
  await as('marketer')('PATCH', `/campaigns/${ids[0]}`, { steps: [] })
  const later = (await as('read-only')('GET', '/template-uses')).data['uses'] as typeof uses
  expect(later).toHaveLength(3)
})

test('the HTML of a template comes as a document in which nothing runs, for those who see contacts', async () => {
  const id = await make(HTML)
  const response = await readHtml('analyst', `${id}/html`)
  expect(await response.text()).toBe('<p>Hello there</p>')
  expect(response.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await (await readHtml('analyst', `${id}/html?language=de`)).text()).toBe('<p>Hallo</p>')
  expect((await readHtml('read-only', `${id}/html`)).status).toBe(403)
  expect((await readHtml('analyst', `${id}/html?contactId=${crypto.randomUUID()}`)).status).toBe(404)
  expect((await readHtml('analyst', `${crypto.randomUUID()}/html`)).status).toBe(404)
  const text = await make({ en: { text: 'Hi' } }, 'sms')
  expect((await readHtml('analyst', `${text}/html`)).status).toBe(404)
})

test('channels and suppressions are for those who see contacts, and changed by owners who are who they say', async () => {
  for (const path of ['/channels', '/channels/email', '/channels/email/log', '/suppressions']) {
    expect((await as('read-only')('GET', path)).code).toBe('not_permitted')
    expect((await as('analyst')('GET', path)).status).toBe(200)
  }
  const suppressions = [{ channel: 'email', address: 'a@x.io' }]
  const changes = [
    ['PUT', '/channels/email', { provider: 'log' }],
    ['DELETE', '/channels/email', undefined],
    ['POST', '/channels/email/resume', undefined],
    ['POST', '/suppressions', { suppressions }],
    ['DELETE', '/suppressions?reason=manual', undefined],
  ] as const
  for (const [method, path, json] of changes) {
    expect((await as('marketer')(method, path, json)).code).toBe('not_permitted')
    expect((await as('owner')(method, path, json)).status).toBe(200)
  }
  await service.sql`update sessions set confirmed_at = now() - interval '1 hour'`
  for (const [method, path, json] of changes)
    expect((await as('owner')(method, path, json)).code).toBe('confirmation_required')
})
