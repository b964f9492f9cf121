/** Campaigns and their messages in the dashboard's API: the same endpoints as with a key, by role. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ROLES } from '../../src/accounts/rights.ts'
import { CampaignData, CampaignsData, ReportData } from '../../src/front-door/routes/campaigns/schemas.ts'
import { expectShape } from '../front-door/reply-shape.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { sendCampaign } from './send-campaign.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let business: string
let secretKey: string
const clients = new Map<string, SessionClient>()
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ businessId: business, secretKey } = await createBusiness(service.sql))
  for (const role of ROLES) {
    const email = `${role}-${business}@x.io`
    await addUser(service.sql, email, { businessId: business, role })
    clients.set(role, await signIn(service, email))
  }
})

const as = (role: (typeof ROLES)[number]) => (method: string, path: string, json?: unknown) =>
  clients.get(role)!.send(method, `/b/${business}${path}`, json)

async function readHtml(role: (typeof ROLES)[number], messageId: string): Promise<Response> {
  const headers = { Cookie: clients.get(role)!.cookie(), 'Sec-Fetch-Site': 'same-origin' }
  return fetch(`${service.url}/dashboard/api/b/${business}/messages/${messageId}/html`, { headers })
}

const BRANCH = {
  type: 'branch',
  rule: { attribute: 'email', operator: 'in', value: ['ann@x.io', 'bob@x.io'] },
  steps: [
    {
      type: 'split',
      parts: [
        {
          percent: 100,
          steps: [
            {
              type: 'wait_for',
              event: 'seen',
              timeout: 'P1D',
              otherwise: [{ type: 'branch', rule: { attribute: 'city', operator: 'equals', value: 'Annville' } }],
            },
          ],
        },
      ],
    },
  ],
}

test('marketers change them, analysts see whom they are about, and the others lists and the report', async () => {
  const { campaignId, messageId } = await sendCampaign(service, secretKey)
  const path = `/campaigns/${campaignId}`
  const none = crypto.randomUUID()
  const allowed = async (role: (typeof ROLES)[number]) => {
    const asked = {
      list: await as(role)('GET', '/campaigns'),
      one: await as(role)('GET', path),
      report: await as(role)('GET', `${path}/report`),
      enrolments: await as(role)('GET', `${path}/enrolments`),
      messages: await as(role)('GET', `/messages?campaignId=${campaignId}`),
      message: await as(role)('GET', `/messages/${messageId}`),
      create: await as(role)('POST', '/campaigns', {}),
      change: await as(role)('PATCH', path, {}),
      publish: await as(role)('POST', `/campaigns/${none}/publish`),
      pause: await as(role)('POST', `/campaigns/${none}/pause`),
      resume: await as(role)('POST', `/campaigns/${none}/resume`),
      archive: await as(role)('POST', `/campaigns/${none}/archive`),
      remove: await as(role)('DELETE', `/campaigns/${none}`),
      settle: await as(role)('POST', `/messages/${none}/settle`, { state: 'sent' }),
    }
    const names = Object.entries(asked).filter(([, { code }]) => code !== 'not_permitted')
    return [...names.map(([name]) => name), ...((await readHtml(role, messageId)).ok ? ['html'] : [])]
  }
  const lists = ['list', 'one', 'report']
  const people = ['enrolments', 'messages', 'message']
  const changes = ['create', 'change', 'publish', 'pause', 'resume', 'archive', 'remove', 'settle']
  expect(await allowed('read-only')).toEqual(lists)
  expect(await allowed('analyst')).toEqual([...lists, ...people, 'html'])
  for (const role of ['marketer', 'owner'] as const)
    expect(await allowed(role)).toEqual([...lists, ...people, ...changes, 'html'])
  expectShape(CampaignsData, (await as('read-only')('GET', '/campaigns')).data)
  expectShape(ReportData, (await as('read-only')('GET', `${path}/report`)).data)
})

test('who may not see addresses does not find them in the conditions of a trigger', async () => {
  const where = [{ property: 'to', operator: 'in', value: ['ann@x.io', 'bob@x.io'] }]
  const sent = { name: 'Conditions', trigger: { event: 'mailed', where } }
  const { campaignId } = (await as('marketer')('POST', '/campaigns', sent)).data['campaign'] as { campaignId: string }
  for (const path of ['/campaigns', `/campaigns/${campaignId}`]) {
    expect(JSON.stringify((await as('analyst')('GET', path)).data)).toContain('ann@x.io')
    const hidden = JSON.stringify((await as('read-only')('GET', path)).data)
    expect(hidden).toContain('"value":["…","…"]')
    for (const address of where[0]?.value ?? []) expect(hidden).not.toContain(address)
  }
})

test('who may not see addresses does not find them in the rule of a step either', async () => {
  const { campaignId } = await sendCampaign(service, secretKey, { steps: [BRANCH] })
  const read = async (role: (typeof ROLES)[number]) => {
    const { data } = await as(role)('GET', `/campaigns/${campaignId}`)
    expectShape(CampaignData, data)
    return JSON.stringify(data)
  }
  for (const role of ['analyst', 'marketer'] as const) expect(await read(role)).toMatch(/ann@x.io.*Annville/)
  const hidden = await read('read-only')
  for (const word of ['ann@x.io', 'bob@x.io', 'Annville']) expect(hidden).not.toContain(word)
  expect(hidden).toMatch(/"value":\["…","…"\].*"event":"seen".*"value":"…"/)
})

test('changes are in the audit log with who made them', async () => {
  const { campaignId, messageId } = await sendCampaign(service, secretKey)
  await service.sql`update messages set state = 'unknown' where business_id = ${business} and id = ${messageId}`
  await as('marketer')('POST', `/messages/${messageId}/settle`, { state: 'sent' })
  for (const change of ['pause', 'resume', 'archive', 'archive'])
    expect((await as('marketer')('POST', `/campaigns/${campaignId}/${change}`)).status).toBe(200)
  const entries = (await as('owner')('GET', '/audit')).data['entries'] as object[]
  const by = { actorName: `marketer-${business}@x.io` }
  expect(entries.slice(0, 4)).toMatchObject([
    ...['archive', 'resume', 'pause'].map((change) => ({ action: `campaign.${change}`, target: campaignId, ...by })),
    { action: 'message.settle', target: messageId, ...by },
  ])
})

test('the HTML of a message is a document in which nothing runs, and from which nothing is asked for', async () => {
  const html = '<p onclick="x()">Hello {{contact.firstName}}</p><img src="https://x.io/a.png">'
  const { messageId } = await sendCampaign(service, secretKey, { html })
  const response = await readHtml('analyst', messageId)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('Hello Zoe')
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
})

test('there is no HTML of a message of another business, of one that was not rendered, and of an erased person', async () => {
  const { messageId, contactId } = await sendCampaign(service, secretKey)
  const other = await createBusiness(service.sql)
  const theirs = await sendCampaign(service, other.secretKey)
  for (const id of [theirs.messageId, crypto.randomUUID(), 'no-id'])
    expect((await readHtml('owner', id)).status).toBe(404)
  expect((await as('owner')('DELETE', `/contacts/${contactId}`)).status).toBe(200)
  await expect.poll(async () => (await readHtml('owner', messageId)).status).toBe(404)
})
