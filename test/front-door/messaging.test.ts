/** `/api/messaging`: the settings for all campaigns of a business (campaigns, "A campaign"). */
import { beforeEach, expect, it } from 'vitest'
import { ROLES } from '../../src/accounts/rights.ts'
import { MessagingData } from '../../src/front-door/routes/messaging/schemas.ts'
import { addUser, signIn } from '../dashboard/session-client.ts'
import { openService } from '../support/service.ts'
import { type SimulationClient, openClient, send } from './simulation-client.ts'
import { dataOf, expectShape } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({}, { withoutWorkers: true }))
let client: SimulationClient
beforeEach(async () => {
  client = await openClient(service)
})

const DEFAULTS = { quietHours: { from: '21:00', to: '09:00' }, caps: [], perAddressHour: 20 }
const CAP = { channel: 'email', atMost: 1, days: 7 }
const PATH = '/api/messaging'
const read = async () => dataOf(MessagingData, await client.ask('GET', PATH))['messaging']
const put = (json: unknown) => client.ask('PUT', PATH, json)
const saved = async (json: unknown) => dataOf(MessagingData, await put(json))['messaging']
const audit = async () => {
  const rows = await service.sql<{ details: object }[]>`
    select details from audit_log where business_id = ${client.tenant.businessId} and action = 'messaging.update' order by id`
  return rows.map(({ details }) => details)
}

it('has defaults, is replaced as a whole, and the audit log names what has changed', async () => {
  expect(await read()).toEqual(DEFAULTS)
  const caps = [{ ...CAP, whenReached: 'wait' }]
  const perAddressHour = null
  expect(await saved({ quietHours: null, caps: [CAP], perAddressHour })).toEqual({
    quietHours: null,
    caps,
    perAddressHour,
  })
  expect(await read()).toEqual({ quietHours: null, caps, perAddressHour })
  expect(await saved({ quietHours: null, caps, perAddressHour })).toEqual({ quietHours: null, caps, perAddressHour })
  expect(await saved({ quietHours: null, perAddressHour: 1000 })).toEqual({
    quietHours: null,
    caps: [],
    perAddressHour: 1000,
  })
  expect(await saved({})).toEqual(DEFAULTS)
  expect(await read()).toEqual(DEFAULTS)
  expect(await audit()).toEqual([
    { fields: ['quietHours', 'caps', 'perAddressHour'] },
    { fields: ['caps', 'perAddressHour'] },
    { fields: ['quietHours', 'perAddressHour'] },
  ])
})

it('refuses what a campaign refuses, and stays as it was', async () => {
  const { status, body } = await put({ quietHours: { from: '9', to: '09:00' }, caps: [{ ...CAP, channel: 'fax' }] })
  expect([status, body.error?.code]).toEqual([400, 'invalid_request'])
  expect(body.error?.issues?.map(({ path }) => path)).toEqual(['quietHours.from', 'caps[0].channel'])
  expect((await put([])).status).toBe(400)
  for (const perAddressHour of [0, 1001, 1.5, '20'])
    expect((await put({ perAddressHour })).body.error?.issues?.map(({ path }) => path)).toEqual(['perAddressHour'])
  expect(await read()).toEqual(DEFAULTS)
  expect(await audit()).toEqual([])
})

it('is what a simulation goes by', async () => {
  const template = await client.template('Hello')
  const campaignId = await client.draft([send('a', template), send('b', template)])
  const from = '2026-03-02T12:00:00.000Z'
  const sends = async () => {
    const { sends: found } = await client.simulate(campaignId, { contact: { email: 'ada@example.com' }, from })
    return found.map(({ stepId, at, state, reason }) => [stepId, at, reason ?? state])
  }
  expect(await sends()).toEqual([
    ['a', from, 'sent'],
    ['b', from, 'sent'],
  ])
  await saved({ quietHours: { from: '11:00', to: '15:00' }, caps: [{ ...CAP, whenReached: 'skip' }] })
  expect(await sends()).toEqual([
    ['a', from, 'sent'],
    ['b', '2026-03-02T15:00:00.000Z', 'cap'],
  ])
})

it('is read by every member in the dashboard, and changed by owners', async () => {
  const { businessId } = client.tenant
  for (const role of ROLES) {
    const email = `${role}-${businessId}@x.io`
    await addUser(service.sql, email, { businessId, role })
    const member = await signIn(service, email)
    expectShape(MessagingData, (await member.send('GET', `/b/${businessId}/messaging`)).data)
    const { code } = await member.send('PUT', `/b/${businessId}/messaging`, { quietHours: null })
    expect([role, code]).toEqual([role, role === 'owner' ? undefined : 'not_permitted'])
  }
  expect(await read()).toEqual({ quietHours: null, caps: [], perAddressHour: 20 })
})
