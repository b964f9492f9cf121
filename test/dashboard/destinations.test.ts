/** Destinations in the dashboard: owners add, change, test and remove them over real HTTP, and no answer shows a secret. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from 'uuidv7'
import { listAudit } from '../../src/audit/audit.ts'
import { findDestination } from '../../src/deliveries/destinations.ts'
import { type FrontDoor, runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { openSecret, sealSecret } from '../../src/stores/seal-secret.ts'
import { SECRETS, SECRETS_KEY, addTo } from '../deliveries/delivery-lab.ts'
import { OK, type Platform, json, openPlatform } from '../deliveries/platform.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, openSession, signIn } from './session-client.ts'

let service: Service
/** Has no SECRETS_KEY, and may not send to this machine. */
let strict: FrontDoor
let platform: Platform
let businessId: string
let theirDestination: string
let owner: SessionClient
/** The text of all answers. */
let shown = ''

beforeAll(async () => {
  service = await openService({ SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' }, { withoutWorkers: true })
  const { config, sql } = service
  strict = await runFrontDoor({ ...config, secretsKey: undefined, allowLoopbackTargets: undefined })
  platform = await openPlatform()
  ;({ businessId } = await createBusiness(sql))
  await addUser(sql, 'owner@x.io', { businessId, role: 'owner' })
  owner = await signIn(service, 'owner@x.io')
  const { businessId: other } = await createBusiness(sql)
  theirDestination = await addTo(sql, other, 'webhook')
})
afterAll(async () => {
  await platform.close()
  await strict.close()
  await service.close()
})

async function send(method: string, path: string, body?: object, client = owner) {
  const answer = await client.send(method, `/b/${businessId}/destinations${path}`, body)
  shown += JSON.stringify(answer.data)
  return answer
}
const webhook = (more: object = {}) => ({ kind: 'webhook', settings: { url: `${platform.url}/in` }, ...more })
async function add(body: object): Promise<string> {
  const { code, data, issues } = await send('POST', '', body)
  expect([code, issues]).toEqual([undefined, []])
  return String(data['destinationId'])
}
const stored = async (id: string) => {
  const found = await findDestination(service.sql, id)
  return { ...found, secret: openSecret(found?.secret ?? '', id, SECRETS_KEY) }
}
const audit = async (limit: number) =>
  (await listAudit(service.sql, { businessId, before: null, limit })).map(({ action, actorName, target, details }) => [
    action,
    actorName,
    target,
    details,
  ])
const listed = async () => (await send('GET', '')).data['destinations'] as { id: string }[]

const META = { kind: 'meta', settings: { pixelId: '77' }, secret: SECRETS.meta }
const GOOGLE = {
  kind: 'google',
  settings: { customerId: ' 12 ', 'conversionActions.lead': '5', consent: 'granted' },
  secret: SECRETS.google,
}

describe('a destination', () => {
  it('is added, whatever its kind, with its secret sealed, and listed without it', async () => {
    const meta = await add({ ...META, name: ' Ads ', types: ['lead', 'purchase'] })
    const google = await add(GOOGLE)
    expect(await stored(meta)).toMatchObject({
      name: 'Ads',
      types: ['purchase', 'lead'],
      settings: { pixelId: '77' },
      secret: SECRETS.meta,
      active: true,
    })
    expect(await stored(google)).toMatchObject({
      name: 'google',
      types: ['lead'],
      settings: { customerId: '12', conversionActions: { lead: '5' }, consent: 'granted' },
      secret: SECRETS.google,
    })
    expect(await audit(2)).toEqual([
      ['destination.add', 'owner@x.io', google, { kind: 'google', name: 'google', types: ['lead'] }],
      ['destination.add', 'owner@x.io', meta, { kind: 'meta', name: 'Ads', types: ['purchase', 'lead'] }],
    ])
    expect((await listed()).map(({ id }) => id)).toEqual([meta, google])
    for (const secret of [...Object.values(SECRETS.meta), SECRETS.google.refreshToken, SECRETS.google.developerToken])
      expect(shown).not.toContain(`"${secret}"`)
  })

  it('that is a webhook shows the key that was made for it once, and no key of its owner', async () => {
    const made = await send('POST', '', webhook())
    expect(made.data['signingKey']).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await stored(String(made.data['destinationId']))).secret).toEqual({ signingKey: made.data['signingKey'] })
    expect(JSON.stringify(await listed())).not.toContain('whsec_')
    const own = await send('POST', '', webhook({ secret: SECRETS.webhook }))
    expect(own.data['signingKey']).toBeNull()
    expect((await stored(String(own.data['destinationId']))).secret).toEqual(SECRETS.webhook)
  })

  it.each([
    [{ kind: 'fax' }, ['kind']],
    [{ kind: 'meta' }, ['settings.pixelId', 'secret.accessToken']],
    [{ ...META, settings: { pixelId: 'abc', actionSource: 'website' } }, ['settings.pixelId', 'settings.actionSource']],
    [{ ...META, secret: { accessToken: 'a b' } }, ['secret.accessToken']],
    [{ ...META, settings: { pixelId: '77', url: 'https://x.io' } }, ['settings.url']],
    [{ ...META, name: 'x'.repeat(201) }, ['name']],
    [{ ...META, types: [] }, ['types']],
    [{ ...META, types: ['refund'] }, ['types.0']],
    [{ ...GOOGLE, types: ['lead'] }, ['types']],
    [{ ...GOOGLE, settings: { customerId: '12' } }, ['settings.conversionActions']],
    [
      { ...GOOGLE, settings: { ...GOOGLE.settings, 'conversionActions.lead': 'x' } },
      ['settings.conversionActions.lead'],
    ],
    [{ kind: 'webhook', settings: { url: 'x.io' } }, ['settings.url']],
    [{ kind: 'webhook', settings: { url: 'http://user:secret@x.io' } }, ['settings.url']],
    [{ kind: 'webhook', settings: { url: 'http://[x' } }, ['settings.url']],
    [{ kind: 'webhook', settings: { url: 'https://x.io/\u0000' } }, ['settings.url']],
    [{ kind: 'webhook', settings: { url: 'https://x.io', all: 'perhaps' } }, ['settings.all']],
    [{ kind: 'webhook', settings: { url: 'https://x.io' }, secret: { signingKey: 'short' } }, ['secret.signingKey']],
    [{ kind: 'webhook', settings: { url: 'http://10.0.0.5:9000' } }, ['settings.url']],
    [{ kind: 'webhook', settings: { url: 'http://169.254.169.254/latest' } }, ['settings.url']],
  ])('is refused at its fields: %j', async (body, paths) => {
    const before = (await listed()).length
    const { code, issues } = await send('POST', '', body)
    expect([code, issues.map(({ path }) => path).toSorted()]).toEqual(['invalid_request', paths.toSorted()])
    expect(JSON.stringify(issues)).not.toMatch(/"a b"|short/)
    expect(await listed()).toHaveLength(before)
  })

  it('is refused with codes, which pages say in their languages', async () => {
    const { issues } = await send('POST', '', { ...META, settings: { pixelId: 'abc' }, secret: {} })
    expect(issues.map(({ path, code }) => [path, code])).toEqual([
      ['settings.pixelId', 'platform_number'],
      ['secret.accessToken', 'missing'],
    ])
  })

  it('is not sent to the stores of this installation, or to this machine unless that is allowed', async () => {
    for (const store of [service.databaseUrl, service.redisUrl, service.clickhouseUrl]) {
      const url = `http://127.0.0.1:${new URL(store).port}`
      expect((await send('POST', '', webhook({ settings: { url } }))).issues[0]?.path).toBe('settings.url')
    }
    const id = await add(webhook())
    const there = openSession(strict.url, owner.cookie())
    const refused = await send('PATCH', `/${id}`, { settings: { url: `${platform.url}/new` } }, there)
    expect(refused.issues[0]?.message).toMatch('this machine')
    expect((await send('PATCH', `/${id}`, { name: 'CRM' }, there)).status).toBe(200)
  })

  it('never sends its secret to another platform than its own', async () => {
    const id = await add({ ...META, settings: { ...META.settings, baseUrl: platform.url, tokenUrl: platform.url } })
    await send('PATCH', `/${id}`, { settings: { apiVersion: 'v25.0', baseUrl: platform.url } })
    expect((await stored(id)).settings).toEqual({ pixelId: '77', apiVersion: 'v25.0' })
  })
})

describe('a change', () => {
  it('is of what is named alone, and takes settings back', async () => {
    const id = await add(webhook({ settings: { url: `${platform.url}/in`, all: 'true' }, secret: SECRETS.webhook }))
    expect((await send('PATCH', `/${id}`, { active: true })).data).toEqual({ signingKey: null })
    await send('PATCH', `/${id}`, { active: false, name: ' New ', types: ['booking', 'lead'], settings: { all: '' } })
    expect(await stored(id)).toMatchObject({
      name: 'New',
      active: false,
      types: ['lead', 'booking'],
      settings: { url: `${platform.url}/in` },
      secret: SECRETS.webhook,
    })
    expect(await audit(2)).toEqual([
      ['destination.update', 'owner@x.io', id, { changed: ['name', 'active', 'types', 'settings'] }],
      ['destination.update', 'owner@x.io', id, { changed: ['active'] }],
    ])
  })

  it('to the conversion actions changes what Google receives', async () => {
    const id = await add(GOOGLE)
    await send('PATCH', `/${id}`, { settings: { 'conversionActions.booking': '6', 'conversionActions.lead': '' } })
    expect(await stored(id)).toMatchObject({ types: ['booking'], settings: { conversionActions: { booking: '6' } } })
    const none = await send('PATCH', `/${id}`, { settings: { 'conversionActions.booking': '' } })
    expect(none.issues.map(({ path }) => path)).toEqual(['settings.conversionActions'])
    const kept = await send('PATCH', `/${id}`, { types: ['lead'] })
    expect(kept.issues.map(({ path }) => path)).toEqual(['types'])
  })

  it('to the secret replaces all of it, and lets the former key of a webhook sign for a day', async () => {
    const google = await add(GOOGLE)
    const part = await send('PATCH', `/${google}`, { secret: { refreshToken: 'new' } })
    expect(part.issues).toHaveLength(3)
    await send('PATCH', `/${google}`, { secret: { ...SECRETS.google, refreshToken: 'new' } })
    expect((await stored(google)).secret).toEqual({ ...SECRETS.google, refreshToken: 'new' })
    const id = await add(webhook({ secret: SECRETS.webhook }))
    const { data } = await send('PATCH', `/${id}`, { newSigningKey: true })
    const until = expect.closeTo(Date.now() + 86_400_000, -5) as number
    expect((await stored(id)).secret).toEqual({ ...data, former: { ...SECRETS.webhook, until } })
    expect(await audit(1)).toEqual([['destination.update', 'owner@x.io', id, { changed: ['secret'] }]])
    for (const [to, body] of [
      [id, { newSigningKey: true, secret: SECRETS.webhook }],
      [google, { newSigningKey: true }],
    ] as const)
      expect((await send('PATCH', `/${to}`, body)).issues.map(({ path }) => path)).toEqual(['newSigningKey'])
  })

  it('does not undo another one at the same time', async () => {
    const id = await add(webhook({ secret: SECRETS.webhook }))
    const url = `${platform.url}/new`
    const change = (body: object) => send('PATCH', `/${id}`, body)
    const keys = { newSigningKey: true }
    const answers = await Promise.all([
      change({ settings: { all: 'true' } }),
      change({ settings: { url } }),
      change(keys),
      change(keys),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { settings, secret } = await stored(id)
    expect(settings).toEqual({ url, all: true })
    const { signingKey, former } = secret as { signingKey: string; former: { signingKey: string } }
    const made = answers.slice(2).map(({ data }) => String(data['signingKey']))
    expect([signingKey, former.signingKey].toSorted()).toEqual(made.toSorted())
  })

  it('needs a destination of this business, and something to change', async () => {
    const id = await add(webhook())
    for (const wrong of [theirDestination, uuidv7(), 'no-id']) {
      expect((await send('PATCH', `/${wrong}`, { active: true })).code).toBe('not_found')
      expect((await send('DELETE', `/${wrong}`)).code).toBe('not_found')
      expect((await send('POST', `/${wrong}/test`)).code).toBe('not_found')
    }
    expect((await send('PATCH', `/${id}`, {})).code).toBe('invalid_request')
    expect((await send('PATCH', `/${id}`, { name: 'x'.repeat(200) })).status).toBe(200)
    expect((await send('PATCH', `/${id}`, { name: 'x'.repeat(201) })).code).toBe('invalid_request')
  })
})

describe('a test', () => {
  it('sends a conversion that counts nowhere, and says what the destination answered', async () => {
    const id = await add(webhook())
    expect((await send('POST', `/${id}/test`)).data).toEqual({ isAccepted: true, reason: null })
    expect(JSON.parse(platform.heard.at(-1)?.body ?? '')).toMatchObject({ type: 'test' })
    platform.reply = json(400, { secret: 'of the platform' })
    expect((await send('POST', `/${id}/test`)).data).toEqual({ isAccepted: false, reason: 'HTTP 400' })
    platform.reply = OK
  })

  it('needs a test code for Meta', async () => {
    const id = await addTo(service.sql, businessId, 'meta', { url: platform.url })
    expect((await send('POST', `/${id}/test`)).issues[0]?.path).toBe('settings.testEventCode')
    await send('PATCH', `/${id}`, { settings: { testEventCode: 'TEST1' } })
    expect((await send('POST', `/${id}/test`)).data).toMatchObject({ isAccepted: true })
    expect(JSON.parse(platform.heard.at(-1)?.body ?? '')).toMatchObject({ test_event_code: 'TEST1' })
  })
})

it('without SECRETS_KEY, or with another one, only what needs no secret is possible', async () => {
  const there = openSession(strict.url, owner.cookie())
  expect((await send('GET', '', undefined, there)).data['hasSecretsKey']).toBe(false)
  expect((await send('GET', '')).data['hasSecretsKey']).toBe(true)
  expect((await send('POST', '', META, there)).code).toBe('secrets_key')
  const id = await add(META)
  expect((await send('PATCH', `/${id}`, { secret: SECRETS.meta }, there)).code).toBe('secrets_key')
  expect((await send('PATCH', `/${id}`, { active: false, settings: { testEventCode: 'T' } }, there)).status).toBe(200)
  expect((await send('POST', `/${id}/test`, undefined, there)).code).toBe('secrets_key')
  await service.sql`update destinations set secret = ${sealSecret(SECRETS.meta, id, 'cd'.repeat(32))} where id = ${id}`
  expect((await send('POST', `/${id}/test`)).code).toBe('secrets_key')
  expect((await send('PATCH', `/${id}`, { secret: SECRETS.meta })).status).toBe(200)
  expect((await send('DELETE', `/${id}`, undefined, there)).data).toEqual({ isRemoved: true })
})

it('a removed destination is gone with its conversions, and the log keeps who removed it', async () => {
  const id = await add(webhook({ name: 'CRM' }))
  await service.sql`
    insert into deliveries (business_id, id, destination_id, event_id, contact_id, event, type, occurred_at, clicks, state)
    values (${businessId}, ${uuidv7()}, ${id}, ${uuidv7()}, ${uuidv7()}, 'lead', 'lead', 0, '{}', 'queued')`
  expect((await send('DELETE', `/${id}`)).data).toEqual({ isRemoved: true })
  expect(await findDestination(service.sql, id)).toBeUndefined()
  expect(await service.sql`select from deliveries where destination_id = ${id}`).toHaveLength(0)
  expect(await audit(1)).toEqual([['destination.remove', 'owner@x.io', id, { kind: 'webhook', name: 'CRM' }]])
  expect((await send('DELETE', `/${id}`)).code).toBe('not_found')
})

it('at most 50 are in a business, also when two are added at the same time', async () => {
  await service.sql`delete from destinations where business_id = ${businessId}`
  for (let count = 0; count < 48; count += 1) await addTo(service.sql, businessId, 'webhook')
  const last = await Promise.all([1, 2, 3].map(() => send('POST', '', webhook())))
  expect(last.map(({ code }) => code ?? 'added').toSorted()).toEqual(['added', 'added', 'limit_reached'])
  expect(await listed()).toHaveLength(50)
  const [first] = await listed()
  await send('DELETE', `/${first?.id}`)
  expect((await send('POST', '', webhook())).status).toBe(200)
})

it('adding, changing and removing need a recent proof of who asks', async () => {
  const [first] = await listed()
  await service.sql`update sessions set confirmed_at = now() - interval '1 hour'`
  expect((await send('POST', '', webhook())).code).toBe('confirmation_required')
  expect((await send('PATCH', `/${first?.id}`, { name: 'x' })).code).toBe('confirmation_required')
  expect((await send('DELETE', `/${first?.id}`)).code).toBe('confirmation_required')
  expect((await send('POST', `/${first?.id}/test`)).code).not.toBe('confirmation_required')
})
