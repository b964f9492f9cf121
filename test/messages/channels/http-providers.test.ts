/** Messages to the providers that accept them over HTTP. Requests and answers follow their documentation. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { meta } from '../../../src/messages/channels/http/meta.ts'
import { postmark } from '../../../src/messages/channels/http/postmark.ts'
import { resend } from '../../../src/messages/channels/http/resend.ts'
import { ses } from '../../../src/messages/channels/http/ses.ts'
import { signV4 } from '../../../src/messages/channels/http/sign-v4.ts'
import { twilio } from '../../../src/messages/channels/http/twilio.ts'
import type { OutgoingMessage, Provider } from '../../../src/messages/channels/provider.ts'
import { MAX_REASON } from '../../../src/messages/channels/words.ts'
import { guardOf } from '../../../src/outbound/target-guard.ts'
import type { Sql } from '../../../src/stores/postgres.ts'
import { LOOPBACK_GUARD } from '../../deliveries/delivery-lab.ts'
import { type Heard, type Platform, type Reply, json, openPlatform } from '../../deliveries/platform.ts'
import { atLoad } from '../../support/at-load.ts'

const NOW = Date.UTC(2026, 2, 1)
const MESSAGE_ID = '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d37'
const SENDER = { sender: 'Shop, Inc <hello@shop.example>', replyTo: 'help@shop.example' }
const LINKS = {
  'List-Unsubscribe': '<https://mail.example.com/u/token>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
}
const OWN_ID = `<${MESSAGE_ID}@shop.example>`

const mail: OutgoingMessage = {
  messageId: MESSAGE_ID,
  businessId: crypto.randomUUID(),
  channel: 'email',
  contactId: null,
  to: 'ada@example.com',
  message: { language: 'en', subject: 'Hallo Zürich', html: '<p>Hi</p>', text: 'Hi' },
  headers: LINKS,
}
const sms: OutgoingMessage = {
  ...mail,
  channel: 'sms',
  to: '+972501234567',
  message: { language: 'en', text: 'Hi & ü' },
}
const whatsapp: OutgoingMessage = { ...sms, channel: 'whatsapp' }

interface Case {
  provider: Provider
  settings: Record<string, unknown>
  secret: Record<string, string>
  message: OutgoingMessage
  /** The documented answer to a success, with its id. */
  answer: Reply
  id: string
  path: string
}
const cases: Record<string, Case> = {
  resend: {
    provider: resend,
    settings: SENDER,
    secret: { apiKey: 're_secret', webhookSecret: 'whsec_secret' },
    message: mail,
    answer: json(200, { id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' }),
    id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794',
    path: '/emails',
  },
  postmark: {
    provider: postmark,
    settings: { ...SENDER, messageStream: 'broadcast' },
    secret: { serverToken: 'server-token' },
    message: mail,
    answer: json(200, {
      To: 'ada@example.com',
      SubmittedAt: '2014-02-17T07:25:01.4178645-05:00',
      MessageID: '0a129aee-e1cd-480d-b08d-4f48548ff48d',
      ErrorCode: 0,
      Message: 'OK',
    }),
    id: '0a129aee-e1cd-480d-b08d-4f48548ff48d',
    path: '/email',
  },
  ses: {
    provider: ses,
    settings: { ...SENDER, region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE', configurationSet: 'sluice' },
    secret: { secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
    message: mail,
    answer: json(200, { MessageId: '010701912ab3cd45-example-000000' }),
    id: '010701912ab3cd45-example-000000',
    path: '/v2/email/outbound-emails',
  },
  twilio: {
    provider: twilio,
    settings: { accountSid: 'AC0123456789abcdef0123456789abcdef', from: '+15005550006' },
    secret: { authToken: 'auth-token' },
    message: sms,
    answer: json(201, { sid: 'SM1234567890abcdef1234567890abcdef', status: 'queued', error_code: null }),
    id: 'SM1234567890abcdef1234567890abcdef',
    path: '/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json',
  },
  meta: {
    provider: meta,
    settings: { phoneNumberId: '106540352242922' },
    secret: { token: 'EAAG-token', appSecret: 'app-secret', verifyToken: 'verify' },
    message: whatsapp,
    answer: json(200, {
      messaging_product: 'whatsapp',
      contacts: [{ input: '972501234567', wa_id: '972501234567' }],
      messages: [{ id: 'wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI' }],
    }),
    id: 'wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI',
    path: '/106540352242922/messages',
  },
}
const names = Object.keys(cases)

let platform: Platform
beforeEach(async () => {
  platform = await openPlatform()
})
afterEach(() => platform.close())

function send(
  name: string,
  options: { more?: object; message?: object; url?: string; ms?: number; guard?: typeof LOOPBACK_GUARD } = {},
) {
  const { provider, settings, secret, message } = cases[name]!
  const { url = platform.url, guard = LOOPBACK_GUARD, ms = atLoad(20_000) } = options
  const setup = { settings: { ...settings, baseUrl: `${url}/`, ...options.more }, secret }
  const transport = provider.open(setup, { sql: undefined as unknown as Sql, guard, now: () => NOW })
  return transport.send({ ...message, ...options.message }, AbortSignal.timeout(ms))
}

async function heard(name: string, options: Parameters<typeof send>[1] = {}): Promise<Heard> {
  platform.reply = cases[name]!.answer
  expect(await send(name, options)).toMatchObject({ kind: 'accepted' })
  return platform.heard.at(-1)!
}

describe.each(names)('%s', (name) => {
  const { answer, id, path, provider, settings, secret } = cases[name]!

  it('takes a message, and says its id', async () => {
    platform.reply = answer
    const outcome = await send(name)
    expect(outcome).toMatchObject({ kind: 'accepted', providerMessageId: id })
    expect(outcome.reason).toMatch(/^HTTP 20[01]: /)
    expect(platform.heard.map((one) => one.path)).toEqual([path])
  })

  it.each([
    [301, 'refused'],
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [409, 'refused'],
    [422, 'refused'],
    [429, 'temporary'],
    [500, name === 'resend' ? 'temporary' : 'unknown'],
    [503, name === 'resend' ? 'temporary' : 'unknown'],
  ] as const)('ends a message with HTTP %i as %s', async (status, kind) => {
    platform.reply = json(status, { message: 'the words of the provider' }, { location: '/elsewhere' })
    const outcome = await send(name)
    expect(outcome).toMatchObject({ kind, reason: expect.stringContaining('the words of the provider') as string })
    expect(outcome).not.toHaveProperty('providerMessageId')
    expect(platform.heard).toHaveLength(1)
  })

  it('shows 300 characters of the words, without its secrets', async () => {
    const secrets = Object.values(secret)
    platform.reply = (response) =>
      void response.writeHead(400).end(JSON.stringify(`${secrets.join(' ')} ${'x'.repeat(1000)}`))
    const { reason = '' } = await send(name)
    expect(reason).toHaveLength(MAX_REASON)
    for (const one of secrets) expect(reason).not.toContain(one)
  })

  it('shows no words that are not JSON, such as those of a page', async () => {
    platform.reply = (response) => void response.writeHead(404).end('<h1>Internal page</h1>')
    expect((await send(name)).reason).toBe('HTTP 404')
  })

  it('leaves it open what became of a message without an answer', async () => {
    platform.reply = (response) => void response.destroy()
    expect(await send(name)).toMatchObject({ kind: 'unknown' })
    platform.reply = () => undefined
    expect(await send(name, { ms: 300 })).toMatchObject({ kind: 'unknown' })
  })

  it('has taken a message by the status, whatever the body is', async () => {
    for (const body of ['', '{', '[]', 'null', '{"id":5,"messages":{}}']) {
      platform.reply = (response) => void response.writeHead(200).end(body)
      const outcome = await send(name)
      expect([body, outcome.kind, outcome.providerMessageId]).toEqual([body, 'accepted', undefined])
    }
    platform.reply = (response) => void response.writeHead(200).write('{')
    // On a busy machine, the status may come later.
    let ms = 150
    await expect.poll(async () => (await send(name, { ms: (ms *= 2) })).kind).toBe('accepted')
  })

  it('is asked later where nobody listens, or where messages may not go', async () => {
    const { url } = platform
    await platform.close()
    expect(await send(name, { url })).toMatchObject({ kind: 'temporary' })
    const guard = guardOf({ port: 0, workerMetricsPort: undefined, allowLoopbackTargets: false })
    for (const one of ['http://127.0.0.1:9', 'http://10.0.0.5', 'http://169.254.169.254/latest'])
      expect(await send(name, { url: one, guard })).toMatchObject({
        kind: 'temporary',
        reason: expect.stringContaining('is not allowed as a target') as string,
      })
    platform = await openPlatform()
  })

  it('gets nothing for no address', async () => {
    expect(await send(name, { message: { to: null } })).toMatchObject({ kind: 'refused' })
    expect(platform.heard).toEqual([])
  })

  it('needs its secrets, for one account at one address', () => {
    const required = provider.secrets.required ?? []
    expect(provider.check(settings, required)).toEqual([])
    expect(provider.check(settings, []).map((fault) => fault.path)).toEqual(required)
    expect(provider.check({ ...settings, baseUrl: 'http://999.1.1.1' }, required).map((fault) => fault.path)).toEqual([
      'baseUrl',
    ])
    const [{ url } = { url: null }] = provider.targets(settings)
    expect(url?.protocol).toBe('https:')
    const own = provider.recipientOf(settings)
    expect(provider.recipientOf({ ...settings, sender: 'other@shop.example', from: '1234' })).toBe(own)
    for (const other of ['baseUrl', 'accountSid', 'phoneNumberId', 'accessKeyId', 'region'])
      if (Object.hasOwn(provider.settings.properties, other))
        expect(provider.recipientOf({ ...settings, [other]: 'other' }), other).not.toBe(own)
  })
})

describe('a mail', () => {
  const FROM = '"Shop, Inc" <hello@shop.example>'

  it('goes to Resend with its key and its tag', async () => {
    const { headers, body } = await heard('resend')
    expect(headers).toMatchObject({
      authorization: 'Bearer re_secret',
      'content-type': 'application/json',
      'idempotency-key': MESSAGE_ID,
    })
    expect(JSON.parse(body)).toEqual({
      from: FROM,
      to: ['ada@example.com'],
      subject: 'Hallo Zürich',
      html: '<p>Hi</p>',
      text: 'Hi',
      reply_to: 'help@shop.example',
      headers: { ...LINKS, 'Message-ID': OWN_ID },
      tags: [{ name: 'sluice_message', value: MESSAGE_ID }],
    })
  })

  it.each([
    ['concurrent_idempotent_requests', 'temporary'],
    ['invalid_idempotent_request', 'unknown'],
  ])('whose key Resend knows (%s) is %s', async (error, kind) => {
    platform.reply = json(409, { statusCode: 409, name: error, message: 'Same idempotency key used' })
    expect(await send('resend')).toMatchObject({ kind })
  })

  it('goes to Postmark with its metadata', async () => {
    const { headers, body } = await heard('postmark')
    expect(headers).toMatchObject({ 'x-postmark-server-token': 'server-token', accept: 'application/json' })
    expect(JSON.parse(body)).toEqual({
      From: FROM,
      To: 'ada@example.com',
      ReplyTo: 'help@shop.example',
      Subject: 'Hallo Zürich',
      HtmlBody: '<p>Hi</p>',
      TextBody: 'Hi',
      Headers: [
        ...Object.entries(LINKS).map(([Name, Value]) => ({ Name, Value })),
        { Name: 'Message-ID', Value: OWN_ID },
        { Name: 'X-PM-KeepID', Value: 'true' },
      ],
      Metadata: { 'sluice-message': MESSAGE_ID },
      MessageStream: 'broadcast',
    })
  })

  it('goes to SES as a signed request with the whole mail', async () => {
    const { headers, body, path } = await heard('ses')
    const sent = JSON.parse(body) as { Content: { Raw: { Data: string } } }
    expect(sent).toMatchObject({
      FromEmailAddress: 'hello@shop.example',
      Destination: { ToAddresses: ['ada@example.com'] },
      EmailTags: [{ Name: 'sluice-message', Value: MESSAGE_ID }],
      ConfigurationSetName: 'sluice',
    })
    const raw = Buffer.from(sent.Content.Raw.Data, 'base64').toString()
    for (const line of [
      `Message-ID: ${OWN_ID}`,
      'List-Unsubscribe: <https://mail.example.com/u/token>',
      'To: ada@example.com',
    ])
      expect(raw).toContain(line)
    expect(raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    const signed = signV4(
      { method: 'POST', url: new URL(path, platform.url), headers: { 'content-type': 'application/json' }, body },
      {
        accessKeyId: 'AKIDEXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        region: 'eu-central-1',
        service: 'ses',
      },
      NOW,
    )
    expect(headers).toMatchObject(signed)
    expect(headers['host']).toBe(new URL(platform.url).host)
  })

  it('goes to SES where its region is', () => {
    const urls = ['eu-central-1', 'us-gov-west-1', 'cn-north-1'].map(
      (region) => ses.targets({ ...SENDER, region })[0]?.url.host,
    )
    expect(urls).toEqual([
      'email.eu-central-1.amazonaws.com',
      'email.us-gov-west-1.amazonaws.com',
      'email.cn-north-1.amazonaws.com.cn',
    ])
  })
})

describe('a text', () => {
  it('goes to Twilio as a form, from a number or a messaging service', async () => {
    const { headers, body } = await heard('twilio')
    const login = Buffer.from('AC0123456789abcdef0123456789abcdef:auth-token').toString('base64')
    expect(headers).toMatchObject({
      authorization: `Basic ${login}`,
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      To: '+972501234567',
      From: '+15005550006',
      Body: 'Hi & ü',
    })
    const from = `MG${'0a'.repeat(16)}`
    const other = await heard('twilio', { more: { from } })
    expect(Object.fromEntries(new URLSearchParams(other.body))).toMatchObject({ MessagingServiceSid: from })
    expect(other.body).not.toContain('From=')
  })
})

describe('a WhatsApp message', () => {
  it('is a text', async () => {
    const { headers, body } = await heard('meta')
    expect(headers).toMatchObject({ authorization: 'Bearer EAAG-token', 'content-type': 'application/json' })
    expect(JSON.parse(body)).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '972501234567',
      type: 'text',
      text: { preview_url: false, body: 'Hi & ü' },
      biz_opaque_callback_data: MESSAGE_ID,
    })
  })

  it("has Meta's id of the person, which may be another than the number", async () => {
    const answer = (contacts: unknown) => json(200, { contacts, messages: [{ id: 'wamid.1' }] })
    platform.reply = answer([{ input: '+972501234567', wa_id: '972509999999' }])
    expect(await send('meta')).toMatchObject({ providerMessageId: 'wamid.1', recipientId: '972509999999' })
    for (const contacts of [undefined, 'x', [], [null], [{ wa_id: 5 }], [{ wa_id: 'x'.repeat(256) }]]) {
      platform.reply = answer(contacts)
      const outcome = await send('meta')
      expect(outcome).toMatchObject({ kind: 'accepted', providerMessageId: 'wamid.1' })
      expect(outcome).not.toHaveProperty('recipientId')
    }
  })

  it('is a template by its name, with parameters or without', async () => {
    const template = { language: 'pt-BR', providerTemplate: 'order_confirmation', providerLanguage: 'pt_BR' }
    const plain = await heard('meta', { message: { message: template } })
    expect(JSON.parse(plain.body)).toMatchObject({
      type: 'template',
      template: { name: 'order_confirmation', language: { code: 'pt_BR' } },
    })
    expect(plain.body).not.toContain('components')
    const { body } = await heard('meta', { message: { message: { ...template, parameters: ['Ada', '12'] } } })
    expect((JSON.parse(body) as { template: object }).template).toMatchObject({
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ada' },
            { type: 'text', text: '12' },
          ],
        },
      ],
    })
  })

  it.each([4, 80_007, 130_429, 131_056])('is not taken while Meta has too many: %i', async (code) => {
    platform.reply = json(400, { error: { message: '(#130429) Rate limit hit', type: 'OAuthException', code } })
    expect(await send('meta')).toMatchObject({ kind: 'temporary' })
  })

  it('is refused for any other reason of Meta', async () => {
    platform.reply = json(400, { error: { message: '(#132001) Template name does not exist', code: 132_001 } })
    expect(await send('meta')).toMatchObject({ kind: 'refused' })
    platform.reply = json(500, { error: { code: 130_429 } })
    expect(await send('meta')).toMatchObject({ kind: 'unknown' })
  })
})
