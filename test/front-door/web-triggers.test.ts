/** From a page view in a browser to the enrolment (campaigns, "A campaign"). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findBusinesses } from '../../src/businesses/find-business.ts'
import type { AppContext, RequestContext } from '../../src/front-door/app-context.ts'
import { MAX_FIRED, MAX_TIMES, fireWebTriggers } from '../../src/front-door/routes/browser/fire-web-triggers.ts'
import { ExplanationData } from '../../src/front-door/routes/campaigns/explain-schema.ts'
import * as schemas from '../../src/front-door/routes/campaigns/schemas.ts'
import { SimulationData } from '../../src/front-door/routes/campaigns/simulation-schemas.ts'
import { MAX_WEB_CAMPAIGNS } from '../../src/rules/campaigns/web-trigger.ts'
import type { WebHit } from '../../src/rules/visitors/web-facts.ts'
import type { NewIngestRequest } from '../../src/stream/publish/submit.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { newVisitor } from '../web-events/web-lab.ts'
import { BROWSER, type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
let visitorId: string
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
  visitorId = newVisitor()
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const paths = ({ status, body }: Answer) => [status, body.error?.issues?.map(({ path }) => path)]
const campaignOf = (answer: Answer) =>
  dataOf(schemas.CampaignData, answer)['campaign'] as { campaignId: string; trigger: object }

async function publish(trigger: object, more: object = {}): Promise<string> {
  const created = campaignOf(await ask('POST', '/api/campaigns', { name: 'C', trigger, ...more }))
  expect(created.trigger).toEqual(trigger)
  expect((await ask('POST', `/api/campaigns/${created.campaignId}/publish`)).status).toBe(200)
  // Front doors cache the settings of a business for less than a second.
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return created.campaignId
}
const known = async (): Promise<string> => {
  const { body } = await ask('POST', '/api/sdk/identify', { identity: { email: 'ann@x.io' }, visitorId })
  return String(body.data['contactId'])
}
const capture = async (...hits: object[]) => {
  const sent = hits.map((hit, at) => ({ id: `h${at}`, pageId: 'p1', ageMs: 0, url: 'https://x.io/prices?a=1', ...hit }))
  const json = { businessId: tenant.businessId, visitorId, hits: sent }
  expect((await speak('POST', '/api/sdk/browser/capture', { json, headers: BROWSER })).status).toBe(200)
}
const enrolled = async (campaignId: string): Promise<number> => {
  const answer = await ask('GET', `/api/campaigns/${campaignId}/enrolments`)
  return (dataOf(schemas.EnrolmentsData, answer)['enrolments'] as unknown[]).length
}
const becomes = (campaignId: string, many: number, timeout = PATIENCE_MS) =>
  expect.poll(() => enrolled(campaignId), { timeout }).toBe(many)
/** Waits until earlier captures have had their effect. */
const settled = async () => {
  await ask('POST', '/api/sdk/track', { event: 'later', identity: { email: 'ann@x.io' } })
}

describe('a campaign', () => {
  it('starts within 5 s with a page view of a person who is known', { timeout: PATIENCE_MS }, async () => {
    const where = [
      { property: 'path', operator: 'equals', value: '/prices' },
      { property: 'host', operator: 'equals', value: 'x.io' },
    ]
    const campaignId = await publish({ web: 'page_view', where })
    await capture({ kind: 'page_view' })
    const contactId = await known()
    await capture({ kind: 'page_view', pageId: 'p2', url: 'https://x.io/' }, { kind: 'scroll', depth: 25 })
    await settled()
    expect(await enrolled(campaignId)).toBe(0)
    await capture({ kind: 'page_view', pageId: 'p3' })
    await becomes(campaignId, 1, atLoad(5000))
    // A browser sends the capture again.
    await capture({ kind: 'page_view', pageId: 'p3' })
    await settled()
    expect(await enrolled(campaignId)).toBe(1)

    const explained = dataOf(
      ExplanationData,
      await ask('GET', `/api/campaigns/${campaignId}/explain?contactId=${contactId}`),
    )
    expect(explained['triggers']).toMatchObject([{ event: 'page_view', entered: true, reason: null }])
    const simulated = await ask('POST', `/api/campaigns/${campaignId}/simulate`, { contact: { email: 'a@x.io' } })
    expect(dataOf(SimulationData, simulated)).toMatchObject({ state: 'active' })
  })

  it('starts at a depth of a page', { timeout: PATIENCE_MS }, async () => {
    const where = [{ property: 'depth', operator: 'greater_than_or_equal', value: 50 }]
    const campaignId = await publish({ web: 'scroll_depth', where })
    await known()
    await capture({ kind: 'page_view' }, { kind: 'scroll', depth: 25 })
    await settled()
    expect(await enrolled(campaignId)).toBe(0)
    await capture({ kind: 'scroll', depth: 50, id: 'x' }, { kind: 'scroll', depth: 75, id: 'y' })
    await becomes(campaignId, 1)
  })

  it('starts with the active time of one page view, all its hits together', { timeout: PATIENCE_MS }, async () => {
    const where = [{ property: 'seconds', operator: 'greater_than', value: 60 }]
    const campaignId = await publish({ web: 'active_time', where })
    await known()
    await capture({ kind: 'time', activeMs: 40_000, idleMs: 100_000, id: 'a' })
    // The same again, and one of another page view.
    await capture({ kind: 'time', activeMs: 40_000, id: 'a' })
    await capture({ kind: 'time', activeMs: 40_000, id: 'b', pageId: 'p2' })
    await settled()
    expect(await enrolled(campaignId)).toBe(0)
    await capture({ kind: 'time', activeMs: 20_001, id: 'c' })
    await becomes(campaignId, 1)
  })

  it(
    'keeps a limited number of times of a page view, and counts the one that comes then',
    { timeout: PATIENCE_MS },
    async () => {
      const campaignId = await publish({
        web: 'active_time',
        where: [{ property: 'seconds', operator: 'equals', value: 70 }],
      })
      await known()
      const key = `sluice:page:${tenant.businessId}:${visitorId}:p1`
      await service.redis.hset(key, Object.fromEntries(Array.from({ length: MAX_TIMES }, (_, at) => [`old${at}`, 0])))
      await capture({ kind: 'time', activeMs: 70_000, id: 'new' })
      await becomes(campaignId, 1)
      expect(await service.redis.hlen(key)).toBe(MAX_TIMES)
    },
  )

  it('is limited: in the number of such campaigns, and of page views in a request', async () => {
    const campaignId = crypto.randomUUID()
    await service.sql`
      insert into campaigns (business_id, id, name, status, trigger_web, can_enter_again, published_at)
      select ${tenant.businessId}, case n when 1 then ${campaignId}::uuid else gen_random_uuid() end, 'c', 'published',
        'page_view', false, to_timestamp(n)
      from generate_series(1, ${MAX_WEB_CAMPAIGNS + 1}) n`
    const business = (await findBusinesses(service.sql, [tenant.businessId])).get(tenant.businessId)!
    expect(business.webTriggers).toHaveLength(MAX_WEB_CAMPAIGNS)
    expect(business.webTriggers[0]).toEqual({ campaignId, web: 'page_view' })
    const submitted: NewIngestRequest[] = []
    const submit = (request: NewIngestRequest) => {
      submitted.push(request)
      return Promise.resolve({ kind: 'queued' as const })
    }
    const app = { submitter: { submit }, metrics: { answers: { inc: () => undefined } } } as unknown as AppContext
    const context = { receivedAt: 1, requestId: 'r' } as RequestContext
    const view = { id: 'h', kind: 'page_view', pageId: 'p', occurredAt: 1, url: 'https://x.io/' } as WebHit
    const hits = [view, { ...view, pageId: 'q' }]
    await fireWebTriggers(app, context, business, { visitorId, hits, touches: { first: null, latest: null } })
    expect(submitted).toMatchObject([{ kind: 'web_trigger', fact: { visitorId } }])
    const [request] = submitted
    expect(request?.kind === 'web_trigger' && request.fact.fired).toHaveLength(MAX_FIRED)
  })

  it('is published as one of 100, those that are paused included, and can change then', async () => {
    await service.sql`
      insert into campaigns (business_id, id, name, status, trigger_web, can_enter_again)
      select ${tenant.businessId}, gen_random_uuid(), 'c', case when n % 2 = 0 then 'published' else 'paused' end, 'page_view', false
      from generate_series(2, ${MAX_WEB_CAMPAIGNS}) n`
    const draft = async () =>
      campaignOf(await ask('POST', '/api/campaigns', { name: 'C', trigger: { web: 'page_view' } })).campaignId
    const last = await draft()
    expect((await ask('POST', `/api/campaigns/${last}/publish`)).status).toBe(200)
    expect((await ask('PATCH', `/api/campaigns/${last}`, { steps: [{ type: 'exit' }] })).status).toBe(200)
    expect(paths(await ask('POST', `/api/campaigns/${await draft()}/publish`))).toEqual([400, ['trigger.web']])
  })

  it('refuses conditions that do not belong there, and is locked once it is published', async () => {
    const draft = (trigger: object) => ask('POST', '/api/campaigns', { name: 'C', trigger })
    const depth = [{ property: 'depth', operator: 'greater_than', value: 5 }]
    expect(paths(await draft({ web: 'page_view', where: depth }))).toEqual([400, ['trigger.where[0].property']])
    expect(paths(await draft({ web: 'page_view', sources: ['live'] }))).toEqual([400, ['trigger.sources']])
    expect((await draft({ web: 'click' })).status).toBe(400)
    const { campaignId } = campaignOf(await draft({ web: 'page_view' }))
    const path = `/api/campaigns/${campaignId}`
    const trigger = { web: 'scroll_depth', where: depth }
    expect(campaignOf(await ask('PATCH', path, { trigger })).trigger).toEqual(trigger)
    const { campaignId: copy } = campaignOf(await ask('POST', `${path}/duplicate`))
    expect(campaignOf(await ask('GET', `/api/campaigns/${copy}`)).trigger).toEqual(trigger)
    await ask('POST', `${path}/publish`)
    expect((await ask('PATCH', path, { trigger: { web: 'page_view' } })).status).toBe(409)
    expect((await ask('PATCH', path, { trigger })).status).toBe(200)
  })
})
