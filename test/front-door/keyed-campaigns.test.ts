/** Campaigns that enrol once for each order, by the API. */
import { beforeEach, describe, expect, it } from 'vitest'
import { CampaignData, EnrolmentsData, ReportData } from '../../src/front-door/routes/campaigns/schemas.ts'
import { ExplanationData } from '../../src/front-door/routes/campaigns/explain-schema.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'
import { speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'

const service = useOpened(openService)
let tenant: TestBusiness
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
})

const WHERE = [{ property: 'total', operator: 'greater_than', value: 5 }]
const CART = {
  name: 'Carts',
  trigger: { event: 'cart' },
  enrolPer: { property: 'cart.id' },
  goal: { event: 'purchase', sameKey: 'order.cart' },
  steps: [{ type: 'wait', for: 'P1D' }],
}
const ask = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
  speakTo(service.url)(method, path, { key: tenant.secretKey, json, headers })
const post = async (sent: object) => await ask('POST', '/api/campaigns', sent)
async function publish(more: object = {}): Promise<string> {
  const { campaignId } = dataOf(CampaignData, await post({ ...CART, ...more }))['campaign'] as { campaignId: string }
  expect(await ask('POST', `/api/campaigns/${campaignId}/publish`)).toMatchObject({ status: 200 })
  return campaignId
}
async function track(event: string, properties: object, more: object = {}): Promise<string> {
  const answer = await ask('POST', '/api/sdk/track', { event, identity: { email: 'ann@x.io' }, properties, ...more })
  expect(answer).toMatchObject({ status: 200 })
  return String(answer.body.data['contactId'])
}
const codes = ({ status, body }: Awaited<ReturnType<typeof post>>) => [
  status,
  ...(body.error?.issues ?? []).map(({ path }) => path),
]

describe('a campaign with keys', () => {
  it('is read as it was sent, and locked once it is published', async () => {
    const { enrolPer, goal } = CART
    const sent = { ...CART, goal: { ...goal, where: WHERE }, whileActive: 'restart' }
    const campaign = dataOf(CampaignData, await post(sent))['campaign'] as { campaignId: string }
    expect(campaign).toMatchObject({ enrolPer, goal: { ...goal, where: WHERE }, whileActive: 'restart' })
    const path = `/api/campaigns/${campaign.campaignId}`
    expect(dataOf(CampaignData, await ask('GET', path))['campaign']).toEqual(campaign)
    await ask('POST', `${path}/publish`)
    for (const change of [
      { enrolPer: 'contact', goal: null },
      { whileActive: 'ignore' },
      { goal: { event: 'purchase' } },
    ])
      expect(await ask('PATCH', path, change)).toMatchObject({ status: 409, body: { error: { code: 'locked' } } })
    expect(await ask('PATCH', path, { enrolPer, whileActive: 'restart' })).toMatchObject({ status: 200 })
  })

  it.each([
    [{ enrolPer: 'order' }, ['enrolPer']],
    [{ enrolPer: {} }, ['enrolPer.property']],
    [{ enrolPer: { property: '' } }, ['enrolPer.property']],
    [{ enrolPer: { property: 'a', more: 1 } }, ['enrolPer.more']],
    [{ enrolPer: 'contact' }, ['goal.sameKey']],
    [{ goal: { event: 'purchase', sameKey: false } }, ['goal.sameKey']],
    [{ goal: { event: 'purchase', where: [{ property: 'a' }] } }, ['goal.where[0].operator']],
    [{ trigger: { web: 'page_view' } }, ['enrolPer']],
    [{ trigger: { web: 'page_view' }, enrolPer: 'contact', goal: null, whileActive: 'update' }, ['whileActive']],
    [
      { enrolPer: null, goal: null, steps: [{ type: 'wait_for', event: 'e', timeout: 'P1D', sameKey: true }] },
      ['steps[0].sameKey'],
    ],
  ])('%j is refused', async (more, faults) => {
    expect(codes(await post({ ...CART, ...more }))).toEqual([400, ...faults])
  })

  it('may have the event of its trigger as its goal, if both have conditions', async () => {
    const goal = { event: 'cart', sameKey: true }
    const draft = dataOf(CampaignData, await post({ ...CART, goal }))['campaign'] as { campaignId: string }
    const path = `/api/campaigns/${draft.campaignId}`
    expect(codes(await ask('POST', `${path}/publish`))).toEqual([400, 'goal.event'])
    const trigger = { event: 'cart', where: [{ property: 'total', operator: 'less_than', value: 9 }] }
    expect(await ask('PATCH', path, { trigger, goal: { ...goal, where: WHERE } })).toMatchObject({ status: 200 })
    expect(await ask('POST', `${path}/publish`)).toMatchObject({ status: 200 })
    const effects = { Prefer: 'effects' }
    const send = async (total: number) =>
      (
        await ask(
          'POST',
          '/api/sdk/track',
          { event: 'cart', identity: { email: 'ann@x.io' }, properties: { cart: { id: 1 }, total } },
          effects,
        )
      ).body.data['effects']
    expect(await send(7)).toMatchObject({ enrolled: [], ended: [] })
    expect(await send(3)).toMatchObject({ enrolled: [{ key: '1', state: 'active' }], ended: [] })
    expect(await send(7)).toMatchObject({ enrolled: [], ended: [{ key: '1', state: 'converted' }] })
  })

  it('warns when its goal does not compare keys', async () => {
    const draft = dataOf(CampaignData, await post({ ...CART, goal: { event: 'purchase' } }))['campaign'] as {
      campaignId: string
    }
    const answer = await ask('POST', `/api/campaigns/${draft.campaignId}/publish`)
    expect(answer.body.data['warnings']).toEqual([expect.stringContaining('goal.sameKey is not set')])
  })

  it('is listed, explained and reported by key', async () => {
    const campaignId = await publish()
    const path = `/api/campaigns/${campaignId}`
    const at = Date.now() - 60_000
    for (const [id, n] of [
      ['a', 1],
      ['b', 2],
      [undefined, 3],
      ['a', 4],
    ] as const)
      await track('cart', { cart: { id } }, { occurredAt: at + n })
    const contactId = await track('purchase', { order: { cart: 'a' } }, { value: 10, occurredAt: at + 20 })
    // It lies in both enrolments, and carries no key.
    await track('tip', {}, { type: 'purchase', value: 3, occurredAt: at + 10 })
    const listed = dataOf(EnrolmentsData, await ask('GET', `${path}/enrolments?key=%20a`))['enrolments']
    expect(listed).toMatchObject([{ key: 'a', state: 'converted' }])
    expect(await ask('GET', `${path}/enrolments?key=`)).toMatchObject({ status: 400 })
    const explained = dataOf(ExplanationData, await ask('GET', `${path}/explain?contactId=${contactId}`))
    expect(explained['triggers']).toMatchObject([
      { key: 'a', entered: false, reason: 'already_active' },
      { key: null, entered: false, reason: 'no_key' },
      { key: 'b', entered: true, reason: null },
      { key: 'a', entered: true, reason: null },
    ])
    const contact = (await ask('GET', `/api/contacts/${contactId}`)).body.data['contact'] as {
      enrolments: { key: string; state: string }[]
    }
    expect(contact.enrolments.map(({ key, state }) => `${key} ${state}`)).toEqual(['a converted', 'b active'])
    await expect
      .poll(async () => dataOf(ReportData, await ask('GET', `${path}/report`))['report'], { timeout: 15_000 })
      .toMatchObject({ contacts: 1, enrolments: { enrolled: 2, converted: 1 }, revenue: { USD: 10 } })
  })

  it('counts no event twice when its goal ends all enrolments', async () => {
    const campaignId = await publish({ goal: { event: 'purchase' } })
    const at = Date.now() - 60_000
    for (const [id, n] of [
      ['a', 1],
      ['b', 20],
    ] as const)
      await track('cart', { cart: { id } }, { occurredAt: at + n })
    await track('tip', {}, { type: 'purchase', value: 3, occurredAt: at + 10 })
    await track('purchase', {}, { value: 10, occurredAt: at + 30 })
    await expect
      .poll(async () => dataOf(ReportData, await ask('GET', `/api/campaigns/${campaignId}/report`))['report'], {
        timeout: 15_000,
      })
      .toMatchObject({ contacts: 1, enrolments: { converted: 2 }, revenue: { USD: 13 } })
  })

  it('is simulated with the key of its event', async () => {
    const campaignId = await publish({
      whileActive: 'restart',
      steps: [
        { id: 'w', type: 'wait', for: 'PT1H' },
        { id: 'x', type: 'wait_for', event: 'paid', sameKey: true, timeout: 'P1D', steps: [{ type: 'exit' }] },
      ],
    })
    const from = '2026-03-01T09:00:00.000Z'
    const simulate = async (properties: object | undefined, answers: object[] = []) =>
      await ask('POST', `/api/campaigns/${campaignId}/simulate`, {
        contact: { email: 'ann@x.io' },
        from,
        ...(properties && { event: { name: 'cart', properties } }),
        answers,
      })
    expect(codes(await simulate({}))).toEqual([400, 'event.properties'])
    const ends = async (answers: object[], properties: object | undefined = { cart: { id: 7 } }) =>
      (await simulate(properties, answers)).body.data['endsAt']
    expect(await ends([], undefined)).toBe('2026-03-02T10:00:00.000Z')
    const answer = (event: string, minutes: number, properties: object) => ({
      event,
      at: Date.parse(from) + minutes * 60_000,
      properties,
    })
    expect(await ends([answer('cart', 30, { cart: { id: '7' } })])).toBe('2026-03-02T10:30:00.000Z')
    expect(await ends([answer('cart', 30, { cart: { id: 8 } })])).toBe('2026-03-02T10:00:00.000Z')
    expect(await ends([answer('paid', 90, { cart: { id: 8 } })])).toBe('2026-03-02T10:00:00.000Z')
    expect(await ends([answer('paid', 90, { cart: { id: 7 } })])).toBe('2026-03-01T10:30:00.000Z')
    expect(await ends([answer('purchase', 5, { order: { cart: 7 } })])).toBe('2026-03-01T09:05:00.000Z')
  })
})
