/** `POST /api/campaigns/{id}/duplicate` (campaigns, "Reading"). */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { CampaignData } from '../../src/front-door/routes/campaigns/schemas.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
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
  tenant = await createBusiness(service.sql)
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const shown = (answer: Answer) => dataOf(CampaignData, answer)['campaign'] as { campaignId: string; name: string }
const draft = async (more: object = {}) =>
  shown(await ask('POST', '/api/campaigns', { name: 'Welcome', trigger: { event: 'signup' }, ...more }))
const duplicate = (campaignId: string) => ask('POST', `/api/campaigns/${campaignId}/duplicate`)

const WAIT = { id: 'w', type: 'wait', for: 'P3D' }
const EVERYTHING = {
  goal: { event: 'paid' },
  canEnterAgain: true,
  quietHours: { from: '20:00', to: '08:00' },
  caps: [{ channel: 'email', atMost: 2, days: 7, whenReached: 'skip' }],
  holdOut: 5,
  tracking: { opens: false, clicks: true },
  steps: [
    { id: 'a', type: 'wait_for', event: 'seen', timeout: 'P1D', steps: [{ id: 'b', type: 'exit' }], otherwise: [] },
  ],
}

it.each<[string, object]>([
  ['everything', EVERYTHING],
  ['nothing but a trigger', {}],
  ['no quiet hours', { quietHours: null }],
])('copies a campaign with %s', async (_, more) => {
  const original = await draft(more)
  const copy = shown(await duplicate(original.campaignId))
  const { campaignId } = copy
  expect(campaignId).not.toBe(original.campaignId)
  expect(copy).toEqual({ ...original, campaignId, name: 'Welcome (copy)' })
  expect(shown(await ask('GET', `/api/campaigns/${campaignId}`))).toEqual(copy)
  const log = await service.sql`
    select action, target, details from audit_log where business_id = ${tenant.businessId} order by id offset 1`
  expect([...log]).toEqual([
    { action: 'campaign.duplicate', target: campaignId, details: { original: original.campaignId } },
  ])
})

it('copies the present version of an archived campaign into a draft that is its own', async () => {
  const { campaignId } = await draft({ steps: [WAIT] })
  const path = `/api/campaigns/${campaignId}`
  await ask('POST', `${path}/publish`)
  const steps = [{ ...WAIT, for: 'P9D' }]
  await ask('PATCH', path, { steps })
  await ask('POST', `${path}/archive`)
  const copy = shown(await duplicate(campaignId))
  expect(copy).toMatchObject({ status: 'draft', version: 1, steps })
  // In a draft, another step may take over an id.
  const other = { steps: [{ id: 'w', type: 'exit' }] }
  expect(shown(await ask('PATCH', `/api/campaigns/${copy.campaignId}`, other))).toMatchObject(other)
  expect(shown(await ask('GET', path))).toMatchObject({ status: 'archived', version: 2, steps })
})

it('copies the trigger by a segment', async () => {
  const rule = { event: 'paid', metric: 'count', operator: 'greater_than', value: 1 }
  const { body } = await ask('POST', '/api/segments', { name: 'Buyers', rule })
  const { segmentId } = body.data['segment'] as { segmentId: string }
  const trigger = { segment: segmentId, on: 'leave' }
  const { campaignId } = await draft({ trigger })
  expect(shown(await duplicate(campaignId))).toMatchObject({ trigger })
})

it.each([
  ['of 249 characters stays whole', 'n'.repeat(249), `${'n'.repeat(249)} (copy)`],
  ['of 250 characters loses the last one', 'n'.repeat(250), `${'n'.repeat(249)} (copy)`],
  ['of 256 characters loses seven', 'n'.repeat(256), `${'n'.repeat(249)} (copy)`],
  ['is not cut within a character', `${'n'.repeat(248)}😀`, `${'n'.repeat(248)} (copy)`],
])('a name %s', async (_, name, expected) => {
  const { campaignId } = await draft({ name })
  expect(shown(await duplicate(campaignId)).name).toBe(expected)
})

it('makes the thousandth campaign, and none beyond', async () => {
  const { campaignId } = await draft()
  await service.sql`update businesses set campaign_count = 999 where id = ${tenant.businessId}`
  const answers = await Promise.all([1, 2, 3].map(() => duplicate(campaignId)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
    message: 'The business has 1,000 campaigns, which is the maximum.',
    error: { code: 'limit_reached' },
  })
})

it.each(['x', randomUUID()])('is 404 for the id %s', async (id) => {
  const { status, body } = await duplicate(id)
  expect([status, body.error?.code]).toEqual([404, 'not_found'])
})
