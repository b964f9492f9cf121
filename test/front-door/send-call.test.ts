/** POST /api/messages over HTTP. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CallData, ErasedData } from '../../src/front-door/routes/messages/call-schema.ts'
import { MessageData, MessagesData } from '../../src/front-door/routes/messages/schemas.ts'
import { useChannel } from '../campaigns/engine-lab.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://mail.example.com/' }))
let speak: Speak
let tenant: TestBusiness
let code: string
beforeAll(() => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { rateLimit: 100_000 })
  code = await template('email', {
    en: CODE,
    de: { subject: 'Code', text: 'Hallo {{contact.firstName}} {{data.code}}' },
  })
})

const CODE = {
  subject: 'Your code {{data.code}}',
  html: '<p>Hello {{contact.firstName}} <a href="https://shop.example/x">{{data.code}}</a> {{unsubscribeUrl}}</p>',
}
const WAIT = { prefer: 'wait=10' }
const ASK = (method: string, path: string, json?: unknown, headers?: Record<string, string>) =>
  speak(method, path, { key: tenant.secretKey, json, ...(headers && { headers }) })

async function template(channel: string, variants: object): Promise<string> {
  const sent = { name: 't', channel, variants, defaultLanguage: 'en' }
  const { body } = await ASK('POST', '/api/templates', sent)
  return (body.data['template'] as { templateId: string }).templateId
}
const send = (json: object, headers?: Record<string, string>) =>
  ASK('POST', '/api/messages', { to: { email: 'ada@x.io' }, template: code, data: { code: '4711' }, ...json }, headers)
const sent = async (json: object = {}, headers = WAIT) => dataOf(CallData, await send(json, headers))
const read = async (id: unknown) =>
  dataOf(MessageData, await ASK('GET', `/api/messages/${String(id)}`))['message'] as Record<string, unknown>
const list = async (query: string) =>
  (dataOf(MessagesData, await ASK('GET', `/api/messages?${query}`))['messages'] as { messageId: string }[]).map(
    ({ messageId }) => messageId,
  )
const faults = ({ status, body }: Answer) => [status, ...(body.error?.issues ?? []).map(({ path }) => path)]
const refused = async (json: object) => faults(await send(json))

async function contact(email: string, profile: object = {}): Promise<string> {
  const { body } = await ASK('POST', '/api/sdk/identify', { identity: { email }, profile })
  return body.data['contactId'] as string
}

describe('a message to an address', () => {
  test('is answered once it is stored, then sent without a contact, whose words are empty', async () => {
    const { status, body } = await send({})
    expect([status, body.data]).toEqual([202, { messageId: expect.any(String) as string, state: 'queued' }])
    const { messageId, ...rest } = await sent({ to: { email: ' Ada@X.io ' } })
    expect(rest).toEqual({ state: 'sent', reason: null })
    const message = await read(messageId)
    expect(message).toMatchObject({
      source: 'call',
      campaignId: null,
      enrolmentId: null,
      stepId: null,
      contactId: null,
      to: 'ada@x.io',
      state: 'sent',
      data: { code: '4711' },
      rendering: {
        subject: 'Your code 4711',
        html: '<p>Hello there <a href="https://shop.example/x">4711</a> </p>',
      },
    })
    expect((message['states'] as { state: string }[]).map(({ state }) => state)).toEqual(['queued', 'claimed', 'sent'])
    expect((await ASK('GET', '/api/contacts')).body.data['contacts']).toEqual([])
    expect(await list(`source=call&template=${code}&state=sent`)).toContain(messageId)
    expect(await list('source=campaign')).toEqual([])
    expect(await list(`template=${messageId as string}`)).toEqual([])
  })

  test('is of the contact that has it as a proven identity, in its language', async () => {
    const contactId = await contact('ada@x.io', { firstName: 'Ada', language: 'de' })
    const { messageId } = await sent()
    expect(await read(messageId)).toMatchObject({ contactId, rendering: { language: 'de', text: 'Hallo Ada 4711' } })
    expect(await list(`contactId=${contactId}`)).toEqual([messageId])
    const english = await sent({ language: 'en-GB' })
    expect(await read(english['messageId'])).toMatchObject({ rendering: { language: 'en', subject: 'Your code 4711' } })
  })
})

describe('the two ids', () => {
  test('go to the primary address; an unknown one is 404', async () => {
    const contactId = await contact('ada@x.io')
    await ASK('POST', '/api/sdk/identify', { identity: { email: 'ada@x.io', platformCustomerId: '42' } })
    for (const to of [{ contactId }, { platformCustomerId: 42 }]) {
      const { messageId, state } = await sent({ to })
      expect([state, await read(messageId)]).toMatchObject(['sent', { contactId, to: 'ada@x.io' }])
    }
    for (const to of [{ contactId: crypto.randomUUID() }, { platformCustomerId: 'nobody' }])
      expect((await send({ to })).status).toBe(404)
    const other = await createBusiness(service.sql)
    const foreign = await speak('POST', '/api/messages', {
      key: other.secretKey,
      json: { to: { contactId }, template: code, data: { code: 1 } },
    })
    expect(foreign.status).toBe(404)
  })

  test('skip a contact without an address, at once', async () => {
    const { body } = await ASK('POST', '/api/sdk/identify', { identity: { platformCustomerId: '7' } })
    const answer = await send({ to: { platformCustomerId: '7' } })
    expect(dataOf(CallData, answer)).toMatchObject({ state: 'skipped', reason: 'no_address' })
    expect(await list(`contactId=${body.data['contactId'] as string}`)).toHaveLength(1)
  })
})

describe('refusals', () => {
  test('name the recipient', async () => {
    for (const to of [{}, { email: 'a@x.io', phone: '+972501234567' }])
      expect(await refused({ to })).toEqual([400, 'to'])
    expect(await refused({ to: { email: 'a' } })).toEqual([400, 'to.email'])
    expect(await refused({ to: { email: 'null@null' } })).toEqual([400, 'to.email'])
    expect(await refused({ to: { phone: '12' } })).toEqual([400, 'to.phone'])
    expect(await refused({ to: { contactId: 'x' } })).toEqual([400, 'to.contactId'])
    expect(await refused({ to: { phone: '+972501234567' } })).toEqual([400, 'template'])
    const sms = await template('sms', { en: { text: '{{data.code}}' } })
    expect(await refused({ template: sms })).toEqual([400, 'template'])
    const hook = await template('webhook', { en: { body: '{}' } })
    expect(await refused({ template: hook, to: { contactId: await contact('ada@x.io') } })).toEqual([400, 'template'])
    expect((await send({ template: crypto.randomUUID() })).status).toBe(404)
    expect(await refused({ template: 'x' })).toEqual([400, 'template'])
  })

  test('name each name that the variant reads and the data lack; null will do', async () => {
    expect(await refused({ data: {} })).toEqual([400, 'data.code'])
    expect(await refused({ data: undefined })).toEqual([400, 'data.code'])
    expect(await refused({ data: { toString: 1 } })).toEqual([400, 'data.code'])
    const { messageId } = await sent({ data: { code: null } })
    expect(await read(messageId)).toMatchObject({ state: 'sent', rendering: { subject: 'Your code' } })
  })

  test('are at each limit, and not at it', async () => {
    const file = { filename: 'a.pdf', contentType: 'application/pdf', content: 'AAAA' }
    const files = (many: number, one: object = {}) => ({
      attachments: Array.from({ length: many }, () => ({ ...file, ...one })),
    })
    const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64')
    expect(await refused(files(11))).toEqual([400, 'attachments'])
    expect((await send(files(10))).status).toBe(202)
    expect((await send(files(2, { content: base64(5 * 512 * 1024) }))).status).toBe(202)
    expect(await refused({ attachments: [file, { ...file, content: base64(5 * 1024 * 1024 - 2) }] })).toEqual([
      400,
      'attachments',
    ])
    for (const filename of ['a/b', 'a\\b', 'a\u0007b', '', 'x'.repeat(256)])
      expect(await refused(files(1, { filename }))).toEqual([400, 'attachments.0.filename'])
    expect((await send(files(1, { filename: 'x'.repeat(255) }))).status).toBe(202)
    expect(await refused(files(1, { content: 'A' }))).toEqual([400, 'attachments.0.content'])
    expect(await refused(files(1, { contentType: 'pdf' }))).toEqual([400, 'attachments.0.contentType'])
    for (const validFor of ['PT9.999S', 'P3DT1S', 'x', 'P4D'])
      expect(await refused({ validFor })).toEqual([400, 'validFor'])
    for (const validFor of ['PT10S', 'P3D']) expect((await send({ validFor })).status).toBe(202)
    expect(await refused({ idempotencyKey: 'x'.repeat(201) })).toEqual([400, 'idempotencyKey'])
    expect((await send({ idempotencyKey: 'x'.repeat(200) })).status).toBe(202)
    expect(await refused({ replyTo: 'x' })).toEqual([400, 'replyTo'])
    const bytes = (many: number) => ({ data: { code: 'x'.repeat(many - '{"code":""}'.length) } })
    expect((await send(bytes(1024 * 1024))).status).toBe(202)
    expect(await refused(bytes(1024 * 1024 + 1))).toEqual([400, 'data'])
    const raw = (length: number) => {
      const body = JSON.stringify({ to: { email: 'ada@x.io' }, template: code, data: { code: 1 } })
      return speak('POST', '/api/messages', {
        key: tenant.secretKey,
        raw: body.padEnd(length, ' '),
        headers: { 'content-type': 'application/json' },
      })
    }
    expect((await raw(8 * 1024 * 1024)).status).toBe(202)
    expect((await raw(8 * 1024 * 1024 + 1)).status).toBe(413)
  })

  test('say that files and tracking are for mails', async () => {
    const sms = await template('sms', { en: { text: '{{data.code}}' } })
    const more = {
      replyTo: 'a@x.io',
      tracking: true,
      attachments: [{ filename: 'a', contentType: 'a/b', content: '' }],
    }
    const answer = await send({ to: { phone: '+972501234567' }, template: sms, ...more })
    expect(faults(answer)).toEqual([400, 'attachments', 'replyTo', 'tracking'])
  })

  test('are 403 for a publishable key', async () => {
    const { status } = await speak('POST', '/api/messages', { key: tenant.publishableKey, json: {} })
    expect(status).toBe(403)
  })
})

describe('an idempotency key', () => {
  test('is one message for ever: repeats answer the first, and warn of differences', async () => {
    const key = { idempotencyKey: 'once' }
    const { messageId } = await sent(key)
    expect(await sent(key, {} as never)).toEqual({ messageId, state: 'sent', reason: null, deduped: true })
    const other = await template('email', { en: { subject: 's', text: 't' } })
    const repeated = await sent({ ...key, to: { email: 'bob@x.io' }, template: other })
    expect(repeated).toMatchObject({ messageId, deduped: true })
    expect((repeated['warnings'] as string[]).map((one) => one.split(' ')[0])).toEqual(['to', 'template'])
    expect(await list('source=call')).toEqual([messageId])
    // The keys of events are others.
    const event = await ASK('POST', '/api/sdk/track', { event: 'e', identity: { email: 'ada@x.io' }, ...key })
    expect(event.body.data['deduped']).toBe(false)
  })

  test('is one message for racing calls, too', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send({ idempotencyKey: 'race' }, WAIT)))
    const all = answers.map((answer) => dataOf(CallData, answer))
    expect(new Set(all.map(({ messageId }) => messageId)).size).toBe(1)
    expect(all.filter(({ deduped }) => deduped !== true)).toHaveLength(1)
    expect(all.every(({ state }) => state === 'sent')).toBe(true)
    expect(await list('source=call')).toHaveLength(1)
  })
})

test('a suppressed address is skipped at once, an opted-out person is not', async () => {
  const contactId = await contact('ada@x.io')
  await ASK('PUT', `/api/contacts/${contactId}/subscriptions`, { email: false, method: 'form' })
  expect(await sent()).toMatchObject({ state: 'sent' })
  await ASK('POST', '/api/suppressions', { suppressions: [{ channel: 'email', address: 'ada@x.io' }] })
  const answer = await send({})
  expect(dataOf(CallData, answer)).toMatchObject({ state: 'skipped', reason: 'suppressed' })
})

test('messages to one address are limited in an hour', async () => {
  await ASK('PUT', '/api/messaging', { perAddressHour: 2 })
  expect((await send({})).status).toBe(202)
  expect((await send({ idempotencyKey: 'k' })).status).toBe(202)
  const limited = await send({})
  expect([limited.status, limited.body.error?.code]).toEqual([429, 'rate_limited'])
  const seconds = Number(limited.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(3500)
  expect(seconds).toBeLessThanOrEqual(3600)
  expect((await send({ idempotencyKey: 'k' })).body.data['deduped']).toBe(true)
  expect((await send({ to: { email: 'bob@x.io' } })).status).toBe(202)
  await ASK('PUT', '/api/messaging', { perAddressHour: null })
  expect((await send({})).status).toBe(202)
})

test('calls have a bucket of their own, five times that of the business', async () => {
  const { headers } = await send({})
  expect(headers.get('ratelimit-policy')).toBe('"messages";q=500000;w=60')
})

test('sensitive data and what was rendered are gone once the message is settled', async () => {
  const { messageId } = await sent({ sensitive: true })
  expect(await read(messageId)).toMatchObject({ state: 'sent', data: null, rendering: null })
  expect(await service.sql`select from logged_messages where id = ${messageId as string}`).toHaveLength(0)
})

test('an erasure of an address takes its messages from every list, and their counts stay', async () => {
  const { messageId } = await sent({ attachments: [{ filename: 'a', contentType: 'a/b', content: 'AAAA' }] })
  const theirs = await sent({ to: { email: 'bob@x.io' } })
  const erase = async (address: string) =>
    dataOf(ErasedData, await ASK('DELETE', `/api/messages?address=${encodeURIComponent(address)}`))
  expect(await erase('ADA@x.io')).toEqual({ erased: 1, hasMore: false })
  expect(await erase('ada@x.io')).toEqual({ erased: 0, hasMore: false })
  expect((await ASK('GET', `/api/messages/${messageId as string}`)).status).toBe(404)
  expect(await list('source=call')).toEqual([theirs['messageId']])
  expect(await service.sql`select from call_attachments where message_id = ${messageId as string}`).toHaveLength(0)
  expect(await service.sql`select from messages where id = ${messageId as string} and state = 'sent'`).toHaveLength(1)
  expect((await ASK('DELETE', '/api/messages?address=x')).status).toBe(400)
  // A contact that gets the address later does not get its messages; their erasure takes them nevertheless.
  const contactId = await contact('bob@x.io')
  expect(await list(`contactId=${contactId}`)).toEqual([])
  await ASK('DELETE', `/api/contacts/${contactId}`)
  await expect.poll(() => list('source=call')).toEqual([])
})

test('the backlog of one business is limited', async () => {
  await useChannel(service.sql, { businessId: tenant.businessId, channel: 'email' }, { provider: 'log' })
  await service.sql`update channels set paused_at = 1 where business_id = ${tenant.businessId}`
  await send({})
  await service.sql`update due_calls set bytes = 80000000 where business_id = ${tenant.businessId}`
  await expect
    .poll(async () => (await send({ to: { email: 'b@x.io' } })).status, { timeout: 10_000, interval: 300 })
    .toBe(503)
  const { headers, body } = await send({ to: { email: 'b@x.io' } })
  expect([body.error?.code, headers.get('retry-after')]).toEqual(['unavailable', '5'])
})
