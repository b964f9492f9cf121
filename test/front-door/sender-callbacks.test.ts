/** Callbacks prove one sender's messages (topics-senders-sends, "Several senders"). */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Speak, speakTo } from './http-client.ts'

let service: Service
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  service = await openService({ PUBLIC_URL: 'https://mail.example.com', SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
  speak = speakTo(service.url)
})
afterAll(() => service.close())
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { rateLimit: 100_000 })
})

const DAY = 86_400_000
const POSTMARK = { provider: 'postmark', serverToken: 't', webhookUser: 'sluice', webhookPassword: 'open-sesame' }
const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const hookOf = (url: unknown): string => new URL(String(url)).pathname
const addSender = async (key: string, more: object = {}): Promise<string> => {
  const body = { key, channel: 'email', from: 'hello@shop.example', ...POSTMARK, ...more }
  const made = await ask('POST', '/api/senders', body)
  return hookOf((made.body.data?.['sender'] as Record<string, unknown> | undefined)?.['callbackUrl'])
}
const setDefault = async (): Promise<string> => {
  const made = await ask('PUT', '/api/channels/email', { sender: 'hello@shop.example', ...POSTMARK })
  return hookOf((made.body.data?.['channel'] as Record<string, unknown> | undefined)?.['callbackUrl'])
}
/** Null: of the sender `default`, as messages of the version before. */
async function addMessage(sender: string | null, connection = sender) {
  const providerMessageId = crypto.randomUUID()
  const [row] = await service.sql<[{ id: string }]>`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, recipient, claimed_at, sent_at,
      states, provider_message_id, template_id, sender, connection)
    values (${tenant.businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'a', 'email', 'sent',
      'ada@example.com', 1000, 1000, '[{"state":"sent","at":1000}]', ${providerMessageId}, gen_random_uuid(), ${sender}, ${connection})
    returning id`
  return { id: row.id, providerMessageId }
}
const report = async (hook: string, { providerMessageId }: { providerMessageId: string }, more: object = {}) => {
  const json = { RecordType: 'Delivery', MessageID: providerMessageId, DeliveredAt: '2020-01-01T00:00:01Z', ...more }
  const authorization = `Basic ${Buffer.from('sluice:open-sesame').toString('base64')}`
  return (await speak('POST', hook, { json, headers: { authorization } })).status
}
const stateOf = async ({ id }: { id: string }) =>
  (await service.sql<{ state: string }[]>`select state from messages where id = ${id}`)[0]?.state

it('a valid callback about another sender’s message is 200 and changes nothing', async () => {
  const hooks = { default: await setDefault(), first: await addSender('first'), second: await addSender('second') }
  expect(new Set(Object.values(hooks)).size).toBe(3)
  const messages = {
    default: await addMessage(null),
    first: await addMessage('first'),
    second: await addMessage('second'),
  }
  for (const [of, message] of Object.entries(messages))
    for (const [by, hook] of Object.entries(hooks)) {
      if (by === of) continue
      expect(await report(hook, message)).toBe(200)
      const optOut = {
        RecordType: 'SubscriptionChange',
        SuppressSending: true,
        Recipient: 'ada@example.com',
        ChangedAt: '2020-01-01T00:00:01Z',
      }
      expect(await report(hook, message, optOut)).toBe(200)
      expect(await stateOf(message)).toBe('sent')
    }
  for (const of of ['default', 'first', 'second'] as const) {
    expect(await report(hooks[of], messages[of])).toBe(200)
    expect(await stateOf(messages[of])).toBe('delivered')
  }
})

it('a message with the connection of another sender is proven by that one', async () => {
  const hook = await addSender('base')
  await ask('POST', '/api/senders', { key: 'news', channel: 'email', via: 'base', from: 'news@shop.example' })
  const message = await addMessage('news', 'base')
  expect(await report(hook, message)).toBe(200)
  expect(await stateOf(message)).toBe('delivered')
})

it('callbacks of a sender that was deleted count for 7 days', async () => {
  const hook = await addSender('gone')
  const [late, early] = [await addMessage('gone'), await addMessage('gone')]
  expect((await ask('DELETE', '/api/senders/gone')).status).toBe(200)
  expect(await report(hook, early)).toBe(200)
  expect(await stateOf(early)).toBe('delivered')
  const deletedAt = (at: number) => service.sql`
    update senders set deleted_at = ${Date.now() + at} where business_id = ${tenant.businessId} and key = 'gone'`
  await deletedAt(-7 * DAY + 60_000)
  expect(await report(hook, early)).toBe(200)
  await deletedAt(-7 * DAY)
  expect(await report(hook, late)).toBe(403)
  expect(await stateOf(late)).toBe('sent')
})

it('the token of one sender is none of another', async () => {
  const hook = await addSender('first')
  const token = Buffer.from(hook.split('/').at(-1) ?? '', 'base64url')
  for (const key of ['second', '', 'default']) {
    const forged = Buffer.concat([token.subarray(0, 34), Buffer.from(key)]).toString('base64url')
    expect(await report(hook.replace(/[^/]+$/, forged), { providerMessageId: 'x' })).toBe(403)
  }
})
