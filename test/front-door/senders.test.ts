/** Senders over HTTP (topics-senders-sends, "Several senders"). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DeletedSenderData, SenderData, SendersData } from '../../src/front-door/routes/senders/schemas.ts'
import { TestData } from '../../src/front-door/routes/channels/schemas.ts'
import { MAX_SENDERS } from '../../src/messages/channels/change-sender.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { type MailServer, openMailServer } from '../messages/channels/mail-server.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'

let service: Service
let speak: Speak
let tenant: TestBusiness
let mails: MailServer
beforeAll(async () => {
  service = await openService({ PUBLIC_URL: 'https://mail.example.com/', SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
  speak = speakTo(service.url)
  mails = await openMailServer()
})
afterAll(async () => {
  await service.close()
  await mails.close()
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { rateLimit: 100_000 })
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const pathsOf = ({ body }: Answer) => body.error?.issues?.map(({ path }) => path)
const shown = (answer: Answer) => dataOf(SenderData, answer)['sender'] as Record<string, unknown>
const smtp = (more: object = {}) => ({
  key: 'receipts',
  channel: 'email',
  provider: 'smtp',
  host: '127.0.0.1',
  port: mails.port,
  from: { address: 'hello@shop.example', name: 'Shop' },
  ...more,
})
const create = (more: object = {}) => ask('POST', '/api/senders', smtp(more))
const list = async () =>
  dataOf(SendersData, await ask('GET', '/api/senders?limit=500'))['senders'] as Record<string, unknown>[]

describe('every channel', () => {
  it('has its sender `default`, which is what the channel has', async () => {
    const { key: _, channel: __, from: ___, ...settings } = smtp()
    const saved = await ask('PUT', '/api/channels/email', {
      ...settings,
      sender: 'Shop <hello@shop.example>',
      perSecond: 3,
    })
    const channel = saved.body.data?.['channel'] as Record<string, unknown>
    const sender = shown(await ask('GET', '/api/senders/default?channel=email'))
    expect(sender).toMatchObject({ ...channel, key: 'default', isDefault: true, status: 'active', check: null })
    expect(sender['from']).toEqual({ address: 'hello@shop.example', name: 'Shop' })
    expect((await list()).map(({ channel: one, key, provider }) => [one, key, provider])).toEqual([
      ['email', 'default', 'smtp'],
      ['sms', 'default', 'log'],
      ['whatsapp', 'default', 'log'],
      ['push', 'default', 'log'],
      ['webhook', 'default', 'log'],
    ])
  })

  it('is asked for while several have one, or none has settings', async () => {
    expect(code(await ask('GET', '/api/senders/default'))).toEqual([400, 'invalid_request'])
    await ask('PUT', '/api/channels/sms', { provider: 'log', perSecond: 2 })
    expect(shown(await ask('GET', '/api/senders/default'))).toMatchObject({ channel: 'sms', perSecond: 2 })
    await ask('PUT', '/api/channels/email', { provider: 'log' })
    expect(pathsOf(await ask('GET', '/api/senders/default'))).toEqual(['channel'])
    expect(shown(await ask('GET', '/api/senders/default?channel=push'))).toMatchObject({ provider: 'log' })
  })
})

describe('a sender', () => {
  it('is created, listed, changed and deleted', async () => {
    const made = shown(await create({ dailyBudget: 10, reserve: 20, fallback: 'default' }))
    expect(made).toMatchObject({ key: 'receipts', isDefault: false, fallback: 'default', reserve: 20, via: null })
    expect(made['sender']).toBe('Shop <hello@shop.example>')
    expect((await list()).map(({ key }) => key).slice(0, 2)).toEqual(['default', 'receipts'])
    const changed = shown(
      await ask('PATCH', '/api/senders/receipts', { dailyBudget: null, fallback: null, perSecond: 2 }),
    )
    expect(changed).toEqual({
      ...made,
      dailyBudget: null,
      usedToday: null,
      fallback: null,
      perSecond: 2,
      updatedAt: changed['updatedAt'],
    })
    // What is shown can be sent again.
    expect(shown(await ask('PATCH', '/api/senders/receipts', changed))).toMatchObject({ perSecond: 2, reserve: 20 })
    expect(dataOf(DeletedSenderData, await ask('DELETE', '/api/senders/receipts'))).toEqual({ key: 'receipts' })
    expect(code(await ask('GET', '/api/senders/receipts'))).toEqual([404, 'not_found'])
    expect(code(await ask('DELETE', '/api/senders/receipts'))).toEqual([404, 'not_found'])
    // The key is free again.
    expect((await create()).status).toBe(200)
  })

  it('keeps its secret, and shows it never', async () => {
    const made = shown(await create({ user: 'shop', password: 'open sesame' }))
    expect(made['secrets']).toEqual(['password'])
    expect(shown(await ask('PATCH', '/api/senders/receipts', { perSecond: 5 }))['secrets']).toEqual(['password'])
    // The secret would go to another host.
    expect(code(await ask('PATCH', '/api/senders/receipts', { host: 'localhost' }))).toEqual([400, 'invalid_request'])
  })

  it.each([
    ['a key with capitals', { key: 'Receipts' }, ['key']],
    ['a key of 65 characters', { key: 'a'.repeat(65) }, ['key']],
    ['a channel that there is not', { channel: 'fax' }, ['channel']],
    ['push', { channel: 'push', provider: 'log' }, ['channel']],
    ['a setting that there is not', { warmUp: {} }, ['warmUp']],
    ['a bad address', { from: { address: 'nobody' } }, ['from']],
    ['an address that is a list', { from: ['hello@shop.example'] }, ['from']],
    ['a fallback that there is not', { fallback: 'nobody' }, ['fallback']],
    ['itself as its fallback', { fallback: 'receipts' }, ['fallback']],
    ['a reserve above 100', { reserve: 101 }, ['reserve']],
    ['a provider of another channel', { provider: 'twilio' }, ['provider']],
  ])('is refused with %s', async (_, more, paths) => {
    const refused = await create(more)
    expect(code(refused)).toEqual([400, 'invalid_request'])
    expect(pathsOf(refused)).toEqual(expect.arrayContaining(paths))
  })

  it('has a key that no other one has, of whatever channel', async () => {
    await create({ key: 'a'.repeat(64) })
    expect(
      code(
        await create({
          key: 'a'.repeat(64),
          channel: 'webhook',
          provider: 'log',
          from: undefined,
          host: undefined,
          port: undefined,
        }),
      ),
    ).toEqual([409, 'locked'])
    expect(code(await create({ key: 'default' }))).toEqual([409, 'locked'])
  })

  it('never changes its key, its channel and its connection', async () => {
    await create()
    await create({ key: 'other' })
    for (const body of [{ key: 'x' }, { channel: 'sms' }, { via: 'other' }])
      expect(code(await ask('PATCH', '/api/senders/receipts', body))).toEqual([409, 'locked'])
    expect((await ask('PATCH', '/api/senders/receipts', { key: 'receipts', via: null })).status).toBe(200)
  })

  it('is one of 50 of its channel', async () => {
    for (let at = 1; at < MAX_SENDERS; at += 1)
      expect(
        (await create({ key: `n${at}`, provider: 'log', from: undefined, host: undefined, port: undefined })).status,
      ).toBe(200)
    expect(code(await create({ key: 'one_more' }))).toEqual([409, 'limit_reached'])
    expect((await ask('POST', '/api/senders', { key: 'sms2', channel: 'sms', provider: 'log' })).status).toBe(200)
  })

  it('belongs to its business', async () => {
    await create()
    const other = await createBusiness(service.sql)
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/test'],
    ] as const) {
      const json = method === 'GET' ? {} : { json: { to: 'a@shop.example' } }
      expect((await speak(method, `/api/senders/receipts${path}`, { key: other.secretKey, ...json })).status).toBe(404)
    }
  })
})

describe('the default sender', () => {
  it('moves, is what the channel has, and cannot be deleted', async () => {
    await create()
    expect(shown(await ask('PATCH', '/api/senders/receipts', { isDefault: true }))['isDefault']).toBe(true)
    expect(shown(await ask('GET', '/api/senders/default?channel=email'))['isDefault']).toBe(false)
    expect((await ask('GET', '/api/channels/email')).body.data?.['channel']).toMatchObject({
      provider: 'smtp',
      port: mails.port,
    })
    expect(code(await ask('DELETE', '/api/senders/receipts'))).toEqual([409, 'in_use'])
    expect(code(await ask('DELETE', '/api/senders/default?channel=email'))).toEqual([409, 'in_use'])
    // It is reset, and stays the default.
    await ask('DELETE', '/api/channels/email')
    expect(shown(await ask('GET', '/api/senders/receipts'))).toMatchObject({ provider: 'log', isDefault: true })
    await ask('PUT', '/api/channels/email', { provider: 'log', perSecond: 7 })
    expect(shown(await ask('GET', '/api/senders/receipts'))).toMatchObject({ perSecond: 7, isDefault: true })
    await ask('PATCH', '/api/senders/default?channel=email', { isDefault: true })
    expect((await ask('DELETE', '/api/senders/receipts')).status).toBe(200)
  })
})

describe('a sender with the connection of another one', () => {
  const via = (more: object = {}) =>
    ask('POST', '/api/senders', {
      key: 'news',
      channel: 'email',
      via: 'receipts',
      from: { address: 'news@shop.example' },
      ...more,
    })

  it('has its own address, and the limits, the pause and the callbacks of the other one', async () => {
    await create({ perSecond: 3 })
    const made = shown(await via({ replyTo: 'help@shop.example' }))
    expect(made).toMatchObject({
      via: 'receipts',
      perSecond: 3,
      from: { address: 'news@shop.example' },
      replyTo: 'help@shop.example',
    })
    expect(made['secrets']).toEqual([])
    await ask('POST', '/api/senders/news/pause')
    expect(shown(await ask('GET', '/api/senders/receipts'))['status']).toBe('paused')
    const tested = dataOf(TestData, await ask('POST', '/api/senders/receipts/test', { to: 'ada@shop.example' }))
    expect(tested).toMatchObject({ accepted: true })
    await ask('POST', '/api/senders/news/test', { to: 'ada@shop.example' })
    expect(mails.heard.map(({ from }) => from).slice(-2)).toEqual(['hello@shop.example', 'news@shop.example'])
    expect(code(await ask('DELETE', '/api/senders/receipts'))).toEqual([409, 'in_use'])
    expect((await ask('POST', '/api/senders/receipts/resume')).status).toBe(200)
    expect(shown(await ask('GET', '/api/senders/news'))['status']).toBe('active')
  })

  it.each([
    ['of a sender that there is not', { via: 'nobody' }, ['via']],
    ['of a sender without an address', { via: 'default' }, ['via']],
    ['of itself', { key: 'receipts2', via: 'receipts2' }, ['via']],
    ['without an address', { from: undefined }, ['from']],
    ['with limits', { perSecond: 5 }, ['perSecond']],
    ['as the default', { isDefault: true }, ['isDefault']],
  ])('is refused %s', async (_, more, paths) => {
    await create()
    const refused = await via(more)
    expect(code(refused)).toEqual([400, 'invalid_request'])
    expect(pathsOf(refused)).toEqual(paths)
  })

  it('cannot be the connection of a third one', async () => {
    await create()
    await via()
    expect(pathsOf(await via({ key: 'third', via: 'news' }))).toEqual(['via'])
  })
})

describe('what names a sender', () => {
  const template = (more: object = {}) =>
    ask('POST', '/api/templates', {
      name: 'Receipt',
      channel: 'email',
      variants: { en: { subject: 'Paid', text: 'Thanks {{unsubscribeUrl}}' } },
      defaultLanguage: 'en',
      ...more,
    })
  const idOf = (answer: Answer, of: string, name: string) =>
    (answer.body.data?.[of] as Record<string, string> | undefined)?.[name] ?? ''

  it('keeps it from being deleted: a template, a campaign until it is archived, and a fallback', async () => {
    await create()
    const named = await template({ sender: 'receipts' })
    expect(named.body.data?.['template']).toMatchObject({ sender: 'receipts' })
    const templateId = idOf(named, 'template', 'templateId')
    const refused = await ask('DELETE', '/api/senders/receipts')
    expect(code(refused)).toEqual([409, 'in_use'])
    await ask('PATCH', `/api/templates/${templateId}`, { sender: null })
    const campaign = await ask('POST', '/api/campaigns', {
      name: 'Paid',
      trigger: { event: 'purchase' },
      canEnterAgain: true,
      steps: [{ type: 'send', channel: 'email', template: templateId, sender: 'receipts' }],
    })
    const campaignId = idOf(campaign, 'campaign', 'campaignId')
    expect((await ask('POST', `/api/campaigns/${campaignId}/publish`)).status).toBe(200)
    expect(code(await ask('DELETE', '/api/senders/receipts'))).toEqual([409, 'in_use'])
    await ask('POST', `/api/campaigns/${campaignId}/archive`)
    await create({ key: 'second', fallback: 'receipts' })
    expect(code(await ask('DELETE', '/api/senders/receipts'))).toEqual([409, 'in_use'])
    expect(shown(await ask('PATCH', '/api/senders/second', { fallback: null }))['fallback']).toBeNull()
    expect((await ask('DELETE', '/api/senders/receipts')).status).toBe(200)
  })

  it('is refused with one that there is not, or that is of another channel', async () => {
    await create()
    await ask('POST', '/api/senders', { key: 'texts', channel: 'sms', provider: 'log' })
    expect(pathsOf(await template({ sender: 'texts' }))).toEqual(['sender'])
    const templateId = idOf(await template(), 'template', 'templateId')
    expect(pathsOf(await ask('PATCH', `/api/templates/${templateId}`, { sender: 'texts' }))).toEqual(['sender'])
    const step = { type: 'send', channel: 'email', template: templateId }
    const campaign = await ask('POST', '/api/campaigns', {
      name: 'Paid',
      trigger: { event: 'purchase' },
      canEnterAgain: true,
      senders: { email: 'texts', sms: 'texts' },
      steps: [step, { ...step, sender: 'nobody' }],
    })
    const path = `/api/campaigns/${idOf(campaign, 'campaign', 'campaignId')}`
    expect(pathsOf(await ask('POST', `${path}/publish`))).toEqual(['senders.email', 'steps[1].sender'])
    const changed = await ask('PATCH', path, { senders: { email: 'receipts' }, steps: [step] })
    expect(changed.body.data?.['campaign']).toMatchObject({ senders: { email: 'receipts' } })
    expect((await ask('POST', `${path}/publish`)).status).toBe(200)
    expect(pathsOf(await ask('PATCH', path, { senders: { email: 'texts' } }))).toEqual(['senders.email'])
    const without = await ask('PATCH', path, { senders: {} })
    expect(without.body.data?.['campaign']).not.toHaveProperty('senders')
    expect(pathsOf(await ask('PATCH', path, { senders: { email: 'No' } }))).toEqual(['senders.email'])
    expect(pathsOf(await ask('PATCH', path, { senders: { fax: 'receipts' } }))).toEqual(['senders.fax'])
  })
})
