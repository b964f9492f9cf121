/**
 * Callbacks are either from the provider or forged. This tests their verification and what they report. The bodies are
 * those of the documentation.
 */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Callback, ProviderCallbacks } from '../../../src/messages/callbacks/callbacks.ts'
import { metaCallbacks } from '../../../src/messages/callbacks/meta.ts'
import { postmarkCallbacks } from '../../../src/messages/callbacks/postmark.ts'
import { resendCallbacks } from '../../../src/messages/callbacks/resend.ts'
import { twilioCallbacks } from '../../../src/messages/callbacks/twilio.ts'

const NOW = Date.UTC(2026, 2, 1)
const MESSAGE_ID = '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d37'
const URL_OF = 'https://shop.example/api/hooks/email/x/token'

const callback = (body: unknown, headers: Record<string, string> = {}, url = URL_OF): Callback => ({
  url,
  headers: new Headers(headers),
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  receivedAt: NOW,
})
const DEPS = { fetchText: () => Promise.reject(new Error('nothing is fetched')) }
const check = (callbacks: ProviderCallbacks, secret: object, one: Callback, settings: object = {}) =>
  callbacks.verify(one, { settings: { ...settings }, secret: { ...secret } }, DEPS)

describe('Resend', () => {
  // The example in "Verifying payloads manually" by Svix.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = '{"test": 2432232314}'
  const headers = {
    'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'svix-timestamp': '1614265330',
    'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const at = 1_614_265_330_000
  const verify = (more: object = {}, receivedAt = at, key: unknown = secret, text = body) =>
    check(resendCallbacks, { webhookSecret: key }, { ...callback(text, { ...headers, ...more }), receivedAt })

  it('signs as Svix does', () => {
    expect(verify()).toBe(true)
    expect(verify({ 'svix-signature': `v1,x v2,y ${headers['svix-signature']}` })).toBe(true)
    expect([verify({}, at + 300_000), verify({}, at - 300_000)]).toEqual([true, true])
    expect([verify({}, at + 300_001), verify({}, at - 300_001)]).toEqual([false, false])
    expect(verify({}, at, secret, `${body} `)).toBe(false)
    expect(verify({}, at, 'whsec_AAAA')).toBe(false)
    expect(verify({}, at, null)).toBe(false)
    for (const name of Object.keys(headers)) {
      expect(verify({ [name]: '' })).toBe(false)
      expect(verify({ [name]: `${headers[name as 'svix-id']}x` })).toBe(false)
    }
  })

  const event = (type: string, data: object = {}) => ({
    type,
    created_at: '2024-11-22T23:41:12.126Z',
    data: {
      created_at: '2024-11-22T23:41:11.894719+00:00',
      email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
      from: 'Acme <onboarding@resend.dev>',
      to: ['delivered@resend.dev'],
      subject: 'Sending this example',
      tags: { sluice_message: MESSAGE_ID },
      ...data,
    },
  })
  const read = (body_: unknown) => resendCallbacks.read(callback(body_), { settings: {}, secret: {} })
  const createdAt = Date.UTC(2024, 10, 22, 23, 41, 12, 126)

  it('reports', () => {
    expect(read(event('email.delivered'))).toEqual([
      {
        kind: 'report',
        report: { state: 'delivered', at: createdAt },
        messageId: MESSAGE_ID,
        providerMessageId: '56761188-7520-42d8-8898-ff6fc54ce618',
        address: 'delivered@resend.dev',
        detail: null,
      },
    ])
    const bounce = (type: string, message = 'no such user') =>
      event('email.bounced', { bounce: { message, subType: 'General', type } })
    expect(read(bounce('Permanent'))).toMatchObject([
      { report: { state: 'bounced', blame: 'hard_bounce' }, detail: 'no such user' },
    ])
    const blameOf = (type: string, message?: string) =>
      read(bounce(type, message)).map((fact) => fact.kind === 'report' && fact.report.blame)
    expect(blameOf('Transient')).toEqual(['recipient'])
    for (const type of ['Transient', 'Undetermined']) {
      expect(blameOf(type, 'The server answered: 550 5.1.1 user unknown')).toEqual(['hard_bounce'])
      expect(blameOf(type, 'The server answered: 451 4.1.1 try later')).toEqual(['recipient'])
    }
    expect(read(event('email.complained'))).toMatchObject([{ report: { state: 'complained', blame: 'complaint' } }])
    expect(read(event('email.failed', { failed: { reason: 'domain_not_verified' } }))).toMatchObject([
      { report: { state: 'failed', blame: 'sender' }, detail: 'domain_not_verified' },
    ])
    expect(read(event('email.sent', { tags: [{ name: 'sluice_message', value: MESSAGE_ID }] }))).toMatchObject([
      { report: { state: 'sent' }, messageId: MESSAGE_ID },
    ])
    for (const other of ['email.opened', 'email.delivery_delayed', 'contact.created', 'toString', ''])
      expect(read(event(other))).toEqual([])
    for (const other of ['', '{', 'null', '[]', '5']) expect(read(other)).toEqual([])
    expect(read({ type: 'email.sent', created_at: 'x', data: { to: 5, tags: 5 } })).toMatchObject([
      { report: { at: NOW }, messageId: null, providerMessageId: null, address: null },
    ])
  })
})

describe('Postmark', () => {
  const SETTINGS = { webhookUser: 'sluice' }
  const SECRET = { webhookPassword: 'pass:word' }
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  const verify = (headers: Record<string, string>, settings: object = SETTINGS, secret: object = SECRET) =>
    check(postmarkCallbacks, secret, callback('{}', headers), settings)

  it('brings a name and a password', () => {
    expect(verify(basic('sluice:pass:word'))).toBe(true)
    for (const other of ['sluice:pass', 'sluice', ':', '', 'Sluice:pass:word', 'sluice:pass:word '])
      expect([other, verify(basic(other))]).toEqual([other, false])
    expect(verify({})).toBe(false)
    expect(verify({ authorization: 'Bearer x' })).toBe(false)
    expect(verify(basic('undefined:undefined'), {}, {})).toBe(false)
    expect(verify(basic('sluice:undefined'), SETTINGS, {})).toBe(false)
  })

  const read = (body: unknown) => postmarkCallbacks.read(callback(body), { settings: {}, secret: {} })
  const bounce = (Type: string, RecordType = 'Bounce') => ({
    RecordType,
    MessageStream: 'outbound',
    ID: 4_323_372_036_854_775,
    Type,
    TypeCode: 1,
    Name: 'Hard bounce',
    MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
    Metadata: { 'sluice-message': MESSAGE_ID },
    Description: 'The server was unable to deliver your message (ex: unknown user, mailbox not found).',
    Details: 'smtp;550 5.1.1 unknown user',
    Email: 'john@example.com',
    BouncedAt: '2014-08-01T13:28:10.2735393-04:00',
  })

  it('reports', () => {
    expect(read(bounce('HardBounce'))).toEqual([
      {
        kind: 'report',
        report: { state: 'bounced', blame: 'hard_bounce', at: Date.UTC(2014, 7, 1, 17, 28, 10, 273) },
        messageId: MESSAGE_ID,
        providerMessageId: '883953f4-6105-42a2-a16a-77a8eac79483',
        address: 'john@example.com',
        detail: 'smtp;550 5.1.1 unknown user',
      },
    ])
    const judged = (type: string, record?: string) =>
      read(bounce(type, record)).map((fact) => fact.kind === 'report' && [fact.report.state, fact.report.blame])
    expect(judged('BadEmailAddress')).toEqual([['bounced', 'hard_bounce']])
    const said = (Type: string, Details: string) =>
      read({ ...bounce(Type), Details }).map((fact) => fact.kind === 'report' && fact.report.blame)
    for (const type of ['SoftBounce', 'Transient', 'DnsError', 'Unknown'])
      expect(said(type, 'try later')).toEqual(['recipient'])
    for (const type of ['Transient', 'Unknown'])
      expect(said(type, 'smtp;550 5.1.1 user unknown')).toEqual(['hard_bounce'])
    expect(said('Unknown', 'smtp;451 4.1.1 try later')).toEqual(['recipient'])
    expect(said('SoftBounce', 'smtp;550 5.1.1 user unknown')).toEqual(['recipient'])
    for (const type of ['Blocked', 'SpamNotification', 'VirusNotification', 'DMARCPolicy', 'SMTPApiError'])
      expect(judged(type)).toEqual([['failed', 'sender']])
    expect(judged('ManuallyDeactivated')).toEqual([['failed', 'recipient']])
    expect(judged('SpamComplaint')).toEqual([['complained', 'complaint']])
    expect(judged('SpamComplaint', 'SpamComplaint')).toEqual([['complained', 'complaint']])
    for (const type of ['AutoResponder', 'Subscribe', 'AddressChange', 'constructor']) expect(judged(type)).toEqual([])
    const delivery = {
      RecordType: 'Delivery',
      MessageID: '883953f4',
      Recipient: 'john@example.com',
      DeliveredAt: '2014-08-01T17:28:10Z',
    }
    expect(read(delivery)).toMatchObject([
      {
        report: { state: 'delivered', at: Date.UTC(2014, 7, 1, 17, 28, 10) },
        messageId: null,
        address: 'john@example.com',
      },
    ])
    for (const other of [{ RecordType: 'Open' }, {}, null, 'x']) expect(read(other)).toEqual([])
  })

  it('reports that an address is suppressed there', () => {
    const change = (SuppressionReason: string | null, SuppressSending: unknown = true) =>
      read({
        RecordType: 'SubscriptionChange',
        MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
        ServerID: 123_456,
        MessageStream: 'outbound',
        ChangedAt: '2020-02-01T10:53:34.416071Z',
        Recipient: 'john@example.com',
        Origin: 'Recipient',
        SuppressSending,
        SuppressionReason,
        Tag: 'my-tag',
        Metadata: { 'sluice-message': MESSAGE_ID },
      })
    const found = {
      messageId: MESSAGE_ID,
      providerMessageId: '883953f4-6105-42a2-a16a-77a8eac79483',
      address: 'john@example.com',
    }
    const at = Date.UTC(2020, 1, 1, 10, 53, 34, 416)
    const optOut = [{ kind: 'opt_out', method: 'Postmark', at, ...found }]
    for (const reason of ['ManualSuppression', 'Another', null]) expect(change(reason)).toEqual(optOut)
    expect(change('HardBounce')).toMatchObject([{ ...found, report: { state: 'bounced', blame: 'hard_bounce', at } }])
    expect(change('SpamComplaint')).toMatchObject([
      { ...found, report: { state: 'complained', blame: 'complaint', at } },
    ])
    // Sending that begins again is not an opt-in.
    for (const reason of ['ManualSuppression', 'HardBounce', null])
      for (const other of [false, null, 'true']) expect(change(reason, other)).toEqual([])
  })
})

describe('Twilio', () => {
  const secret = { authToken: '12345' }
  const read = (fields: Record<string, string>, url = URL_OF) =>
    twilioCallbacks.read(callback(new URLSearchParams(fields).toString(), {}, url), { settings: {}, secret: {} })

  it('signs as in "Validating Signatures from Twilio"', () => {
    const url = 'https://mycompany.com/myapp.php?foo=1&bar=2'
    const fields = {
      CallSid: 'CA1234567890ABCDE',
      Caller: '+14158675310',
      Digits: '1234',
      From: '+14158675310',
      To: '+18005551212',
    }
    const verify = (signature: string, body = new URLSearchParams(fields).toString(), at = url, key: object = secret) =>
      check(twilioCallbacks, key, callback(body, { 'x-twilio-signature': signature }, at))
    const signature = 'GvWf1cFY/Q7PnoempGyD5oXAezc='
    expect(verify(signature)).toBe(true)
    // The order of the fields does not matter.
    expect(verify(signature, new URLSearchParams(Object.entries(fields).toReversed()).toString())).toBe(true)
    expect(verify(signature, `${new URLSearchParams(fields).toString()}&a=b`)).toBe(false)
    expect(verify(signature, undefined, 'https://mycompany.com/myapp.php?foo=1')).toBe(false)
    expect(verify(signature, undefined, url, { authToken: '1234' })).toBe(false)
    expect(verify(signature, undefined, url, {})).toBe(false)
    expect(verify('')).toBe(false)
    expect(check(twilioCallbacks, secret, callback('', {}, url))).toBe(false)
  })

  it('reports', () => {
    const status = (MessageStatus: string, ErrorCode?: string) =>
      read(
        {
          MessageSid: 'SM1',
          SmsSid: 'SM1',
          To: '+972501234567',
          From: '+15005550006',
          MessageStatus,
          ...(ErrorCode && { ErrorCode }),
        },
        `${URL_OF}?message=${MESSAGE_ID}`,
      )
    expect(status('delivered')).toEqual([
      {
        kind: 'report',
        report: { state: 'delivered', at: NOW },
        messageId: MESSAGE_ID,
        providerMessageId: 'SM1',
        address: '+972501234567',
        detail: null,
      },
    ])
    const judged = (...one: Parameters<typeof status>) =>
      status(...one).map((fact) => fact.kind === 'report' && [fact.report.state, fact.report.blame])
    expect(judged('sent')).toEqual([['sent', undefined]])
    expect(judged('read')).toEqual([['delivered', undefined]])
    for (const code of ['30005', '30006', '21211', '21614'])
      expect(judged('undelivered', code)).toEqual([['bounced', 'hard_bounce']])
    for (const code of ['30003', '30004', '30008', '99999'])
      expect(judged('undelivered', code)).toEqual([['bounced', 'recipient']])
    expect(judged('failed', '30005')).toEqual([['bounced', 'hard_bounce']])
    expect(judged('failed', '30007')).toEqual([['failed', 'sender']])
    for (const code of ['30002', '30007', '30024', '30032', '30033', '30034', '30035'])
      expect([code, judged('undelivered', code)]).toEqual([code, [['failed', 'sender']]])
    expect(judged('undelivered', '21635')).toEqual([['bounced', 'hard_bounce']])
    expect(judged('failed', '30036')).toEqual([['failed', 'recipient']])
    for (const word of ['failed', 'undelivered']) expect(judged(word, '21610')).toEqual([['failed', 'stop']])
    for (const other of ['queued', 'sending', 'accepted', 'toString']) expect(judged(other)).toEqual([])
  })

  it('brings replies', () => {
    const reply = (Body: string, more: object = {}) => read({ MessageSid: 'SM2', From: '+972501234567', Body, ...more })
    const word = { kind: 'word', address: '+972501234567', replyId: 'SM2', at: NOW }
    expect(reply('Stop')).toEqual([{ ...word, word: 'stop' }])
    expect(reply('START')).toEqual([{ ...word, word: 'start' }])
    expect(reply('Arrêt', { OptOutType: 'STOP' })).toEqual([{ ...word, word: 'stop' }])
    for (const other of ['HELP', 'stop it', '']) expect(reply(other)).toEqual([])
    expect(read({ Body: 'STOP', From: '+972501234567' })).toEqual([])
    // Twilio itself answers the person.
    expect(twilioCallbacks.answer?.body).toContain('<Response></Response>')
  })
})

describe('Meta', () => {
  const secret = { appSecret: 'app-secret', verifyToken: 'verify' }
  const settings = { phoneNumberId: '106540352242922' }

  it('signs with the secret of the app', () => {
    const body = '{"object":"whatsapp_business_account","entry":[]}'
    const sign = (key: string) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`
    const verify = (signature: string | null, key: object = secret, text = body) =>
      check(metaCallbacks, key, callback(text, signature === null ? {} : { 'x-hub-signature-256': signature }))
    expect(verify(sign('app-secret'))).toBe(true)
    expect(verify(sign('other'))).toBe(false)
    expect(verify(sign('app-secret'), secret, `${body} `)).toBe(false)
    expect(verify(sign('undefined'), {})).toBe(false)
    for (const other of [null, '', 'sha256=', sign('app-secret').slice(7)]) expect(verify(other)).toBe(false)
  })

  it('asks for its word first', () => {
    const ask = (query: Record<string, string>, key: object = secret) =>
      metaCallbacks.handshake?.(new URLSearchParams(query), { settings, secret: { ...key } })
    const right = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444', 'hub.verify_token': 'verify' }
    expect(ask(right)).toBe('1158201444')
    expect(ask({ ...right, 'hub.verify_token': 'other' })).toBeNull()
    expect(ask({ ...right, 'hub.mode': 'unsubscribe' })).toBeNull()
    expect(ask({ ...right, 'hub.verify_token': 'undefined' }, {})).toBeNull()
    expect(ask({})).toBeNull()
  })

  const value = (more: object, phone_number_id = '106540352242922') => ({
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '102290129340398',
        changes: [
          {
            field: 'messages',
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '15550783881', phone_number_id },
              ...more,
            },
          },
        ],
      },
    ],
  })
  const read = (body: unknown) => metaCallbacks.read(callback(body), { settings, secret: {} })
  const status = (name: string, more: object = {}) => ({
    id: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI',
    status: name,
    timestamp: '1750030073',
    recipient_id: '16505551234',
    biz_opaque_callback_data: MESSAGE_ID,
    ...more,
  })

  it('reports', () => {
    expect(read(value({ statuses: [status('delivered')] }))).toEqual([
      {
        kind: 'report',
        report: { state: 'delivered', at: 1_750_030_073_000 },
        messageId: MESSAGE_ID,
        providerMessageId: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI',
        address: '+16505551234',
        detail: null,
      },
    ])
    const errors = (code: number) => [
      { code, title: 'Message undeliverable', error_data: { details: 'Message Undeliverable.' } },
    ]
    const both = [
      status('sent'),
      status('read'),
      status('failed', { errors: errors(131_026) }),
      status('failed', { errors: errors(131_031) }),
    ]
    expect(read(value({ statuses: [...both, status('deleted'), status('constructor'), null] }))).toMatchObject([
      { report: { state: 'sent' } },
      { report: { state: 'delivered' } },
      { report: { state: 'failed', blame: 'recipient' }, detail: 'Message Undeliverable.' },
      { report: { state: 'failed', blame: 'sender' } },
    ])
    // Status of another number of the app.
    expect(read(value({ statuses: [status('sent')] }, '1'))).toEqual([])
    for (const other of [{}, null, [], { entry: 5 }, { entry: [{ changes: [{}] }] }]) expect(read(other)).toEqual([])
  })

  it('brings replies', () => {
    const from = { from: '16505551234', id: 'wamid.reply', timestamp: '1749416383' }
    const messages = [
      { ...from, type: 'text', text: { body: 'stop' } },
      { ...from, type: 'text', text: { body: 'start' } },
      { ...from, type: 'button', button: { text: 'Stop promotions', payload: 'Stop promotions' } },
      { ...from, type: 'button', button: { text: 'Nein danke', payload: 'STOP PROMOTIONS' } },
      {
        ...from,
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply: { id: '1', title: 'stop promotions' } },
      },
      { ...from, type: 'text', text: { body: 'hello' } },
      { ...from, type: 'text', text: { body: 'Stop promotions' } },
      { ...from, type: 'button', button: { text: 'More', payload: 'more' } },
      { ...from, type: 'image' },
    ]
    const word = { kind: 'word', address: '+16505551234', replyId: 'wamid.reply', at: 1_749_416_383_000 }
    expect(read(value({ messages }))).toEqual([
      { ...word, word: 'stop' },
      { ...word, word: 'start' },
      { ...word, word: 'stop' },
      { ...word, word: 'stop' },
      { ...word, word: 'stop' },
    ])
  })

  it('takes the buttons of a chat for no word', () => {
    const from = { from: '16505551234', id: 'wamid.reply', timestamp: '1749416383' }
    const buttonsOf = (text: string) => [
      { ...from, type: 'button', button: { text, payload: 'x' } },
      { ...from, type: 'button', button: { text: 'x', payload: text } },
      { ...from, type: 'interactive', interactive: { type: 'button_reply', button_reply: { id: '1', title: text } } },
      { ...from, type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: '1', title: text } } },
    ]
    const wordsOf = (text: string) =>
      read(value({ messages: buttonsOf(text) })).map((fact) => fact.kind === 'word' && fact.word)
    for (const text of ['Cancel', 'End', 'Quit', 'Revoke', 'Start', 'Unstop'])
      expect([text, wordsOf(text)]).toEqual([text, []])
    for (const text of ['stop', 'StopAll', 'Unsubscribe', 'OPTOUT', 'Stop promotions'])
      expect([text, wordsOf(text)]).toEqual([text, ['stop', 'stop', 'stop', 'stop']])
  })
})
