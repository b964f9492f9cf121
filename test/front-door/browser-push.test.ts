/** Browsers subscribe to push messages, and the channel that sends them is set up. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { makeBrowser } from '../messages/push/push-service.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { BROWSER, speakTo } from './http-client.ts'

const PATH = '/api/sdk/browser/push'
const V = '5'.repeat(32)
const ENDPOINT = 'https://93.184.215.14/send/abc'
const SUBJECT = 'mailto:push@shop.example'

let service: Service
/** A front door that does not allow targets on this machine. */
let guarded: FrontDoor
let tenant: TestBusiness
beforeAll(async () => {
  service = await openService({ SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
  guarded = await runFrontDoor({ ...service.config, allowLoopbackTargets: false })
})
afterAll(async () => {
  await guarded.close()
  await service.close()
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql)
  await setUp()
})

const call = (method: string, path: string, json?: object) =>
  speakTo(service.url)(method, path, { key: tenant.secretKey, ...(json && { json }) })
const setUp = (settings: object = {}) =>
  call('PUT', '/api/channels/push', { provider: 'webpush', subject: SUBJECT, ...settings })
const channel = async () => (await call('GET', '/api/channels/push')).body.data['channel'] as Record<string, unknown>

const say = (
  body: object,
  { url = service.url, headers = BROWSER }: { url?: string; headers?: Record<string, string> } = {},
) => speakTo(url)('POST', PATH, { json: { businessId: tenant.businessId, ...body }, headers })
const subscriptionAt = (endpoint = ENDPOINT) => makeBrowser(endpoint).subscription
const subscribe = (endpoint = ENDPOINT, more: object = {}) =>
  say({ visitorId: V, subscription: subscriptionAt(endpoint), ...more })

const kept = () => service.sql`
  select visitor_id, endpoint from push_subscriptions where business_id = ${tenant.businessId} order by endpoint`

describe('a browser', () => {
  it('reads the key of the business, and subscribes', async () => {
    const { publicKey } = await channel()
    expect((await say({})).body.data).toEqual({ publicKey })
    expect(await kept()).toEqual([])
    const answer = await subscribe()
    expect([answer.status, answer.body.data]).toEqual([200, { publicKey }])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(await kept()).toEqual([{ visitor_id: V, endpoint: ENDPOINT }])
    const rows = await service.sql`
      select from visitors where business_id = ${tenant.businessId} and visitor_id = ${V} and last_seen_at is not null`
    expect(rows).toHaveLength(1)
    // A subscription does not record an opt-in.
    expect(await service.sql`select from subscriptions where business_id = ${tenant.businessId}`).toEqual([])
  })

  it('takes no more messages once it says so', async () => {
    await subscribe()
    await subscribe(`${ENDPOINT}d`)
    await say({ visitorId: '6'.repeat(32), subscription: subscriptionAt(`${ENDPOINT}e`) })
    expect((await say({ visitorId: V, unsubscribe: true })).status).toBe(200)
    expect(await kept()).toEqual([{ visitor_id: '6'.repeat(32), endpoint: `${ENDPOINT}e` }])
  })

  it('replaces what was known of its endpoint', async () => {
    await subscribe()
    await subscribe(ENDPOINT, { visitorId: '6'.repeat(32) })
    expect(await kept()).toEqual([{ visitor_id: '6'.repeat(32), endpoint: ENDPOINT }])
  })

  it('reads no key where the business sends no push messages, and nothing is kept', async () => {
    await call('DELETE', '/api/channels/push')
    expect((await subscribe()).body.data).toEqual({ publicKey: null })
    expect(await kept()).toEqual([])
  })

  it('is ignored as a bot, and by its origin', async () => {
    const { publicKey } = await channel()
    const bot = await say({ visitorId: V, subscription: subscriptionAt() }, { headers: { 'user-agent': 'curl/8' } })
    expect(bot.body.data).toEqual({ publicKey, ignored: 'bot' })
    await service.sql`update businesses set origins = '{https://shop.example}' where id = ${tenant.businessId}`
    const strict = await createBusiness(service.sql)
    await service.sql`update businesses set origins = '{https://shop.example}' where id = ${strict.businessId}`
    const foreign = await say(
      { businessId: strict.businessId },
      { headers: { ...BROWSER, origin: 'https://evil.example' } },
    )
    expect([foreign.status, foreign.body.error.code]).toEqual([403, 'origin_not_allowed'])
    const own = await say(
      { businessId: strict.businessId },
      { headers: { ...BROWSER, origin: 'https://shop.example' } },
    )
    expect(own.status).toBe(200)
    expect(await kept()).toEqual([])
  })

  it('can say so ten times a minute', async () => {
    for (let n = 0; n < 10; n += 1) expect((await subscribe()).status).toBe(200)
    const answer = await subscribe()
    expect([answer.status, answer.headers.get('retry-after') !== null]).toEqual([429, true])
  })

  it('sends text/plain, and needs no preflight; one is answered', async () => {
    const raw = JSON.stringify({ businessId: tenant.businessId, visitorId: V, subscription: subscriptionAt() })
    const said = await speakTo(service.url)('POST', PATH, {
      raw,
      headers: { ...BROWSER, 'content-type': 'text/plain' },
    })
    expect(said.status).toBe(200)
    expect((await speakTo(service.url)('OPTIONS', PATH)).headers.get('access-control-allow-methods')).toBe('POST')
  })
})

describe('an endpoint', () => {
  const refused = async (endpoint: string, url = service.url) => {
    const { keys } = subscriptionAt()
    const { status, body } = await say({ visitorId: V, subscription: { endpoint, keys } }, { url })
    return [status, body.error?.issues?.map(({ path }) => path)]
  }
  const REFUSED = [400, ['subscription.endpoint']]

  it.each([
    'http://push.example/send',
    'ftp://push.example/send',
    'javascript:alert(1)',
    'push.example/send',
    '',
    'https://',
    'https://user:secret@push.example/send',
    'https://push.example/send#fragment',
    'https://push.example/se nd',
    'https://push.example/sénd',
    'https://push.example\\@10.0.0.1/',
    'https://10.0.0.1/send',
    'https://192.168.1.1/send',
    'https://172.16.0.1/send',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00::1]/send',
    'https://[::ffff:10.0.0.1]/send',
    'https://0x0a000001/send',
    'https://224.0.0.1/send',
    'https://0.0.0.0/send',
  ])('is refused: %s', async (endpoint) => {
    expect(await refused(endpoint)).toEqual(REFUSED)
    expect(await kept()).toEqual([])
  })

  it('is refused on this machine, unless that is allowed; never at a port of the installation', async () => {
    expect(await refused('https://127.0.0.1:9/send', guarded.url)).toEqual(REFUSED)
    expect(await refused('https://localhost:9/send', guarded.url)).toEqual(REFUSED)
    expect((await subscribe('https://127.0.0.1:9/send')).status).toBe(200)
    expect(await refused(`https://127.0.0.1:${new URL(service.databaseUrl).port}/send`)).toEqual(REFUSED)
  })

  it('has at most 1,000 characters', async () => {
    const longest = ENDPOINT.padEnd(1000, 'x')
    expect((await subscribe(longest)).status).toBe(200)
    expect(await refused(`${longest}x`)).toEqual(REFUSED)
    expect(await kept()).toEqual([{ visitor_id: V, endpoint: longest }])
  })

  it('comes with the keys of a browser, and with a visitor', async () => {
    const { endpoint, keys } = subscriptionAt()
    const issuesOf = async (body: object) => (await say(body)).body.error?.issues?.map(({ path }) => path)
    const withKeys = (more: object) =>
      issuesOf({ visitorId: V, subscription: { endpoint, keys: { ...keys, ...more } } })
    const noPoint = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 0xff)]).toString('base64url')
    expect(await withKeys({ p256dh: noPoint })).toEqual(['subscription.keys.p256dh'])
    expect(await withKeys({ p256dh: keys.p256dh.slice(1) })).toEqual(['subscription.keys.p256dh'])
    expect(await withKeys({ auth: `${keys.auth}A` })).toEqual(['subscription.keys.auth'])
    expect(await issuesOf({ visitorId: V, subscription: { endpoint } })).toEqual(['subscription.keys'])
    expect(await issuesOf({ subscription: { endpoint, keys } })).toEqual(['visitorId'])
    expect(await issuesOf({ unsubscribe: true })).toEqual(['visitorId'])
    expect(await issuesOf({ visitorId: 'me', unsubscribe: true })).toEqual(['visitorId'])
    expect(await issuesOf({ visitorId: V, unsubscribe: true, subscription: { endpoint, keys } })).toEqual([
      'unsubscribe',
    ])
    expect(await kept()).toEqual([])
  })
})

describe('the channel', () => {
  it('makes its keys once, and shows the public one alone', async () => {
    const first = await channel()
    expect(first).toMatchObject({
      provider: 'webpush',
      subject: SUBJECT,
      ttl: 259_200,
      urgency: 'normal',
      secrets: ['privateKey'],
      publicKey: expect.stringMatching(/^B[\w-]{86}$/) as string,
    })
    await setUp({ ttl: 60, publicKey: 'mine', privateKey: 'mine' })
    expect(await channel()).toMatchObject({ publicKey: first['publicKey'], ttl: 60 })
    const [row] = await service.sql`select secret, settings from channels where business_id = ${tenant.businessId}`
    expect(row?.['settings']).toEqual({ subject: SUBJECT, ttl: 60, urgency: 'normal', publicKey: first['publicKey'] })
    expect(JSON.stringify(first)).not.toContain(row?.['secret'])
    const actions = await service.sql<{ details: { changed: string[] } }[]>`
      select details from audit_log where business_id = ${tenant.businessId} and action = 'channel.save' order by id`
    expect(actions.map(({ details }) => details.changed)).toEqual([
      ['subject', 'ttl', 'urgency', 'publicKey', 'privateKey'],
      ['ttl'],
    ])
  })

  it('makes the same keys for two who set it up at once', async () => {
    await call('DELETE', '/api/channels/push')
    const answers = await Promise.all(Array.from({ length: 5 }, () => setUp()))
    const shown = answers.map(({ body }) => (body.data['channel'] as Record<string, unknown>)['publicKey'])
    expect(new Set(shown)).toEqual(new Set([(await channel())['publicKey']]))
  })

  it.each([
    [{ subject: undefined }, 'subject'],
    [{ subject: 'push@shop.example' }, 'subject'],
    [{ subject: 'http://shop.example' }, 'subject'],
    [{ subject: 'https://user:secret@shop.example' }, 'subject'],
    [{ ttl: 2_419_201 }, 'ttl'],
    [{ ttl: -1 }, 'ttl'],
    [{ urgency: 'now' }, 'urgency'],
    [{ icon: 'http://shop.example/icon.png' }, 'icon'],
  ])('refuses %j', async (settings, path) => {
    const { status, body } = await setUp(settings)
    expect([status, body.error.issues?.map((issue) => issue.path)]).toEqual([400, [path]])
  })

  it('takes every ttl there is', async () => {
    for (const ttl of [0, 2_419_200]) expect((await setUp({ ttl })).status).toBe(200)
  })

  it('is tested with the id of a contact, whose browsers get it', async () => {
    const test = async (json: object) => (await call('POST', '/api/channels/push/test', json)).body.data
    expect(await test({})).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('ID') as string })
    const { contactId } = (await call('POST', '/api/sdk/track', { event: 'e', identity: { email: 'ann@x.io' } })).body
      .data
    expect(await test({ to: contactId })).toMatchObject({
      outcome: 'refused',
      provider: 'webpush',
      reason: 'the contact has no browser that takes push messages',
    })
  })
})

it('a simulation says whom no message would reach', async () => {
  const variants = { en: { title: 'Hi', body: 'There' } }
  const drafted = { name: 'News', channel: 'push', defaultLanguage: 'en', variants }
  const { template } = (await call('POST', '/api/templates', drafted)).body.data as { template: { templateId: string } }
  const steps = [{ id: 'a', type: 'send', channel: 'push', template: template.templateId, kind: 'transactional' }]
  const { campaign } = (await call('POST', '/api/campaigns', { name: 'c', trigger: { event: 'e' }, steps })).body
    .data as { campaign: { campaignId: string } }
  const identified = await call('POST', '/api/sdk/identify', { identity: { email: 'ann@x.io' }, visitorId: V })
  const { contactId } = identified.body.data
  const simulate = async () =>
    (await call('POST', `/api/campaigns/${campaign.campaignId}/simulate`, { contactId })).body.data['sends']
  expect(await simulate()).toMatchObject([{ state: 'skipped', reason: 'no_address' }])
  await subscribe()
  expect(await simulate()).toMatchObject([{ state: 'sent', message: { title: 'Hi', body: 'There' } }])
})

describe('a template', () => {
  const create = async (parts: object) => {
    const json = { name: 'News', channel: 'push', defaultLanguage: 'en', variants: { en: { title: 'Hi', ...parts } } }
    const { status, body } = await call('POST', '/api/templates', json)
    return { status, body, templateId: (body.data?.['template'] as { templateId: string } | undefined)?.templateId }
  }

  it('has at most 3,000 bytes', async () => {
    // The payload is ["Hi","…",""].
    const most = 'x'.repeat(3000 - 12)
    expect((await create({ body: most })).status).toBe(200)
    const { status, body } = await create({ body: `${most}x` })
    expect([status, body.error.issues]).toMatchObject([400, [{ path: 'variants.en' }]])
  })

  it('says so when its values make it larger', async () => {
    const { templateId } = await create({ body: '{{event.properties.text}}' })
    const preview = (text: string) =>
      call('POST', `/api/templates/${templateId}/preview`, { event: { name: 'e', properties: { text } } })
    expect((await preview('x'.repeat(2988))).status).toBe(200)
    const { status, body } = await preview('ü'.repeat(2000))
    expect([status, body.message]).toMatchObject([400, expect.stringContaining('4,012 bytes')])
  })
})
