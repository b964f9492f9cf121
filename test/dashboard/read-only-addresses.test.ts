/** No route that the role `read-only` may read shows it the address of a contact or of a colleague. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from 'uuidv7'
import { createView } from '../../src/contacts/saved-views.ts'
import { addDestination, newDestinationId } from '../../src/deliveries/destinations.ts'
import { DASHBOARD_ROUTES } from '../../src/front-door/routes/dashboard/index.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { sendCampaign } from './send-campaign.ts'
import { type SessionClient, addUser, signIn } from './session-client.ts'

let service: Service
let business: TestBusiness
let owner: SessionClient
let reader: SessionClient
const ids: Record<string, string> = {}
const EMAIL = 'zoe@x.io'
const CONDITION = { attribute: 'email', operator: 'equals', value: EMAIL }
beforeAll(async () => {
  service = await openService()
  const { sql } = service
  business = await createBusiness(sql)
  const { businessId, secretKey } = business
  ids['businessId'] = businessId
  ids['chartId'] = uuidv7()
  for (const role of ['owner', 'analyst', 'read-only'] as const) {
    await addUser(sql, `${role}@office.example`, { businessId, role })
  }
  owner = await signIn(service, 'owner@office.example')
  reader = await signIn(service, 'read-only@office.example')
  const branch = { type: 'branch', rule: CONDITION, steps: [{ type: 'wait', for: 'P1D' }], otherwise: [] }
  ids['campaignId'] = (await sendCampaign(service, secretKey, { steps: [branch] })).campaignId
  await ask('POST', '/invitations', { email: 'invited@office.example', role: 'owner' })
  const { segment } = await ask('POST', '/segments', { name: 'Zoe', rule: CONDITION })
  ids['segmentId'] = (segment as { segmentId: string }).segmentId
  ids['topicKey'] = 'news'
  await ask('POST', '/topics', {
    key: 'news',
    channels: ['email'],
    default: 'subscribed',
    names: { en: { name: 'News' } },
  })
  ids['sender'] = 'receipts'
  const from = { address: 'shop@shop.example' }
  await ask('POST', '/senders', { key: 'receipts', channel: 'email', provider: 'log', from })
  await addChart()
  await createView(
    sql,
    { businessId, actor: { kind: 'user', id: 'id', name: 'owner@office.example' } },
    { name: 'Zoe', filters: { query: EMAIL } },
  )
  await addDelivery()
  await service.shipped()
})
afterAll(() => service.close())

async function ask(method: string, path: string, json?: object): Promise<Record<string, unknown>> {
  const { status, data, code, issues } = await owner.send(method, `/b/${business.businessId}${path}`, json)
  expect({ path, status, code, issues }).toMatchObject({ path, status: 200 })
  return data
}

/** A mailed board, with a chart whose condition names an address. */
async function addChart(): Promise<void> {
  const { board } = (await ask('POST', '/boards', { name: 'Mornings' })) as { board: { id: string } }
  ids['boardId'] = board.id
  const where = [{ property: 'to', operator: 'equals', value: EMAIL }]
  const query = { series: JSON.stringify([{ measure: 'count', where }]) }
  const chart = { title: 'Letters', kind: 'series', query, days: 7, page: 'analytics?days=7', size: 'half' }
  await ask('POST', `/boards/${board.id}/charts`, chart)
  const [person] = await service.sql<{ id: string }[]>`select id from users where email = 'owner@office.example'`
  await ask('PUT', `/boards/${board.id}/mail`, { isOn: true, recipients: [person?.id] })
}

async function addDelivery(): Promise<void> {
  const { sql } = service
  const { businessId } = business
  const settings = { url: 'https://hooks.example/' }
  const id = newDestinationId()
  await addDestination(sql, {
    id,
    businessId,
    kind: 'webhook',
    name: 'CRM',
    types: ['lead'],
    settings,
    secret: 'sealed',
  })
  ids['deliveryId'] = uuidv7()
  await sql`
    insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state,
      attempts, last_error, next_attempt_at, settled_at)
    values (${businessId}, ${ids['deliveryId']}, ${id}, ${uuidv7()}, ${uuidv7()}, 'lead', 'lead', 0, '{}', 'dead', 10, 'HTTP 500', now(), now())`
}

/** The parameters that a route requires. */
const QUERIES: Record<string, string | undefined> = {
  '/analytics/funnel': `steps=${encodeURIComponent('[{"event":"signup"},{"event":"paid"}]')}`,
}
const READABLE = DASHBOARD_ROUTES.filter(({ method, access }) => method === 'GET' && access === 'lists:read')
const tailOf = (path: string) => path.replace('/dashboard/api/b/:businessId', '')

describe('as read-only', () => {
  it.each(READABLE.map(({ path }) => tailOf(path)))('%s names no address', async (tail) => {
    const path = tail.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? name)
    const query = QUERIES[tail]
    const at = `/b/${business.businessId}${path}${query === undefined ? '' : `?${query}`}`
    const { status, data, issues } = await reader.send('GET', at)
    expect({ status, issues }).toEqual({ status: 200, issues: [] })
    expect(JSON.stringify(data)).not.toMatch(/@(x\.io|office\.example)/)
  })

  it('the list of people is refused; an analyst has it', async () => {
    const path = `/b/${business.businessId}/people`
    expect((await reader.send('GET', path)).code).toBe('not_permitted')
    const analyst = await signIn(service, 'analyst@office.example')
    expect(JSON.stringify((await analyst.send('GET', path)).data)).toContain('invited@office.example')
  })
})
