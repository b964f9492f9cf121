/** Calls to a provider by HTTP that answers late, twice, and with errors. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { useChannel } from '../campaigns/engine-lab.ts'
import { type EngineLab, useEngineLab } from '../campaigns/use-engine-lab.ts'
import { type Platform, json, openPlatform } from '../deliveries/platform.ts'
import { type CallLab, call, callTemplate, drainCalls, dueCalls, openCallLab, readCalls, statesOf } from './call-lab.ts'

const SECRETS_KEY = 'ab'.repeat(32)
let lab: EngineLab
useEngineLab((opened) => (lab = opened), { secretsKey: SECRETS_KEY })
let calls: CallLab
let platform: Platform
beforeAll(async () => {
  platform = await openPlatform()
})
afterAll(() => platform.close())
beforeEach(() => {
  const { stack, engine } = lab
  calls = openCallLab(stack.sql, engine.clock, SECRETS_KEY)
  platform.heard.length = 0
  return () => calls.close()
})

async function use(provider: string, more: Record<string, unknown>): Promise<string> {
  const { businessId } = lab.shop
  const settings = { provider, sender: 'Shop <hello@shop.example>', baseUrl: platform.url, ...more }
  const how = { secretsKey: SECRETS_KEY, now: () => lab.engine.clock.now }
  await useChannel(lab.stack.sql, { businessId, channel: 'email' }, settings, how)
  return callTemplate(lab.engine, businessId)
}
const resend = () => use('resend', { apiKey: 're_secret' })
const postmark = () => use('postmark', { serverToken: 'secret' })
const send = (template: string, more: object = {}) =>
  call(calls, lab.shop.businessId, { template, data: { code: '4711' }, ...more })
const states = () => statesOf(lab.stack.sql, lab.shop.businessId)
const drain = (at?: number) => drainCalls(calls, lab.engine.clock, at)
const next = async () => (await dueCalls(lab.stack.sql, lab.shop.businessId))[0]!.due_at

const bill = { filename: 'bill.pdf', contentType: 'application/pdf', content: 'JVBERi0=', contentId: 'bill' }

it('files go as the provider takes them', async () => {
  platform.reply = json(200, { id: 'a', MessageID: 'a' })
  await send(await resend(), { attachments: [bill], replyTo: 'help@shop.example' })
  await drain()
  await send(await postmark(), { attachments: [bill] })
  await drain()
  expect(await states()).toEqual(['sent', 'sent'])
  const [first, second] = platform.heard.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  expect(first).toMatchObject({
    reply_to: 'help@shop.example',
    attachments: [{ filename: 'bill.pdf', content: 'JVBERi0=', content_type: 'application/pdf', content_id: 'bill' }],
  })
  expect(JSON.stringify(first)).not.toContain('List-Unsubscribe')
  expect(second).toMatchObject({
    Attachments: [{ Name: 'bill.pdf', Content: 'JVBERi0=', ContentType: 'application/pdf', ContentID: 'cid:bill' }],
  })
})

it('an error of the server is asked again with the key of the provider, and without one it is unknown', async () => {
  platform.reply = json(500, {})
  await send(await resend())
  await drain()
  expect(await states()).toEqual(['claimed'])
  platform.reply = json(200, { id: 'a' })
  await drain(await next())
  expect(await states()).toEqual(['sent'])
  const keys = platform.heard.map(({ headers }) => headers['idempotency-key'])
  expect(new Set(keys)).toEqual(new Set([(await readCalls(lab.stack.sql, lab.shop.businessId))[0]!.id]))
  platform.reply = json(500, {})
  await send(await postmark())
  await drain()
  await drain(lab.engine.clock.now + 86_400_000)
  expect(await states()).toEqual(['sent', 'unknown'])
  expect(platform.heard).toHaveLength(3)
})

it('too many requests are tried again; a refusal is final', async () => {
  const template = await postmark()
  platform.reply = json(429, {})
  await send(template)
  await drain()
  expect(await states()).toEqual(['claimed'])
  platform.reply = json(422, { ErrorCode: 300, Message: 'Invalid' })
  await drain(await next())
  expect(await states()).toEqual(['failed provider_refused'])
})

it('an answer that comes too late leaves it unknown, and one that comes twice is one', async () => {
  const template = await postmark()
  calls.deps.attemptMs = 1500
  platform.reply = (response, heard) => setTimeout(() => json(200, { MessageID: 'a' })(response, heard), 4000)
  await send(template)
  await drain()
  expect(await states()).toEqual(['unknown'])
  platform.reply = (response) =>
    void response.socket?.end(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 17\r\n\r\n{"MessageID":"b"}'.repeat(2),
    )
  calls.deps.attemptMs = 20_000
  await send(template)
  await drain()
  expect(await states()).toEqual(['unknown', 'sent'])
  expect(platform.heard).toHaveLength(2)
})
