/** Providers report the outcomes of messages (campaigns, "Channels"). */
import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FORGED_CALLBACKS } from '../../src/front-door/access/charge.ts'
import { BODY_LIMITS } from '../../src/front-door/http/read-body.ts'
import { MAX_FACTS } from '../../src/messages/callbacks/receive-callback.ts'
import { forgetFormer } from '../../src/messages/callbacks/former-provider.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { findSuppressed } from '../../src/messages/suppressions/find-suppressed.ts'
import { LEAST_MESSAGES } from '../../src/rules/messages/too-many-refusals.ts'
import { SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { runs } from '../support/runs.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Said, type Speak, speakTo } from './http-client.ts'
import { useOpened } from '../support/use-opened.ts'

const PUBLIC_URL = 'https://mail.example.com/sluice'

const service = useOpened(() => openService({ PUBLIC_URL, SECRETS_KEY, TRUST_PROXY: 'true' }))
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { rateLimit: 100_000 })
})

const SETTINGS: Record<string, Record<string, unknown>> = {
  resend: {
    sender: 'hello@shop.example',
    apiKey: 're_1',
    webhookSecret: `whsec_${Buffer.from('the key of svix').toString('base64')}`,
  },
  postmark: { sender: 'hello@shop.example', serverToken: 't', webhookUser: 'sluice', webhookPassword: 'open-sesame' },
  twilio: { accountSid: 'AC0123', authToken: 'auth-token', from: '+15005550006' },
  meta: { phoneNumberId: '1065', token: 't', appSecret: 'app-secret', verifyToken: 'verify' },
}

/** Returns the path at which the provider reports. */
async function setUp(channel: string, provider: string): Promise<string> {
  const said = { key: tenant.secretKey, json: { provider, ...SETTINGS[provider] } }
  const answer = await speak('PUT', `/api/channels/${channel}`, said)
  const { callbackUrl } = answer.body.data['channel'] as { callbackUrl: string }
  expect(callbackUrl).toMatch(new RegExp(`^${PUBLIC_URL}/api/hooks/${channel}/${provider}/[\\w-]{46}$`))
  return callbackUrl.slice(PUBLIC_URL.length)
}

async function addMessage(
  channel = 'email',
  more: { state?: string; providerMessageId?: string; recipient?: string } = {},
) {
  const { state = 'sent', providerMessageId = crypto.randomUUID() } = more
  const recipient = more.recipient ?? (channel === 'email' ? 'ada@example.com' : '+972501234567')
  const [row] = await service.sql<{ id: string }[]>`
    insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, recipient, claimed_at,
      sent_at, states, provider_message_id, template_id)
    values (${tenant.businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'a', ${channel},
      ${state}, ${recipient}, 1000, ${state === 'sent' ? 1000 : null},
      ${JSON.stringify([{ state: 'claimed', at: 1000 }, ...(state === 'claimed' ? [] : [{ state, at: 1000 }])])}::text::jsonb,
      ${providerMessageId}, gen_random_uuid())
    returning id`
  return { id: row!.id, providerMessageId }
}
async function messageOf(id: string) {
  const [row] = await service.sql<Record<string, unknown>[]>`
    select state, reason, detail, states, sent_at, provider_message_id from messages where id = ${id}`
  return row!
}
const statesOf = async (id: string) =>
  ((await messageOf(id))['states'] as { state: string; at: number }[]).map(({ state, at }) => [state, at])
const suppressed = async (channel: 'email' | 'sms' | 'whatsapp', address: string) => {
  const key = await loadMessageKey(service.sql)
  return (await findSuppressed(service.sql, key, [{ businessId: tenant.businessId, channel, address }]))[0]
}
const reasons = async () => {
  const rows = await service.sql<{ reason: string }[]>`
    select reason from suppressions where business_id = ${tenant.businessId} order by reason`
  return rows.map(({ reason }) => reason)
}

const POSTMARK = { authorization: `Basic ${Buffer.from('sluice:open-sesame').toString('base64')}` }
const postmark = (hook: string, event: object, headers: Record<string, string> = POSTMARK) =>
  speak('POST', hook, { json: event, headers })
const delivery = (MessageID: string, DeliveredAt = '2020-01-01T00:00:01Z') => ({
  RecordType: 'Delivery',
  MessageID,
  DeliveredAt,
})
const bounce = (MessageID: string, Type = 'HardBounce', more: object = {}) => ({
  RecordType: 'Bounce',
  Type,
  MessageID,
  Details: 'smtp;550 5.1.1 unknown user',
  BouncedAt: '2020-01-01T00:00:02Z',
  ...more,
})
const form = (fields: Record<string, string>, signed: string): Said => {
  const names = Object.keys(fields).toSorted()
  const text = signed + names.map((name) => name + fields[name]).join('')
  return {
    raw: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': createHmac('sha1', 'auth-token').update(text).digest('base64'),
    },
  }
}
const twilio = (hook: string, fields: Record<string, string>, signed = PUBLIC_URL + hook) =>
  speak('POST', hook, form(fields, signed))
const meta = (hook: string, value: object, secret = 'app-secret') => {
  const change = { value: { metadata: { phone_number_id: '1065' }, ...value } }
  const raw = JSON.stringify({ entry: [{ changes: [change] }] })
  const signature = createHmac('sha256', secret).update(raw).digest('hex')
  return speak('POST', hook, {
    raw,
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
  })
}

describe('a report', () => {
  it('is kept as a state with its instant, and can be read', async () => {
    const hook = await setUp('email', 'postmark')
    const { id, providerMessageId } = await addMessage()
    expect((await postmark(hook, delivery(providerMessageId))).status).toBe(200)
    expect(await messageOf(id)).toMatchObject({ state: 'delivered', reason: null })
    const answer = await speak('GET', `/api/messages/${id}`, { key: tenant.secretKey })
    expect(answer.body.data['message']).toMatchObject({
      state: 'delivered',
      states: [
        { state: 'claimed', at: '1970-01-01T00:00:01.000Z' },
        { state: 'sent', at: '1970-01-01T00:00:01.000Z' },
        { state: 'delivered', at: '2020-01-01T00:00:01.000Z' },
      ],
    })
  })

  it('suppresses the address if it is of a hard bounce, and not otherwise', async () => {
    const hook = await setUp('email', 'postmark')
    const soft = await addMessage('email', { recipient: 'bob@example.com' })
    await postmark(hook, bounce(soft.providerMessageId, 'SoftBounce'))
    expect(await messageOf(soft.id)).toMatchObject({ state: 'bounced', detail: 'smtp;550 5.1.1 unknown user' })
    const blocked = await addMessage('email', { recipient: 'bob@example.com' })
    await postmark(hook, bounce(blocked.providerMessageId, 'Blocked'))
    expect(await messageOf(blocked.id)).toMatchObject({ state: 'failed', reason: 'provider_refused' })
    expect(await reasons()).toEqual([])
    const hard = await addMessage()
    await postmark(hook, bounce(hard.providerMessageId))
    expect([await suppressed('email', 'ada@example.com'), await reasons()]).toEqual([true, ['hard_bounce']])
    const complaint = await addMessage()
    await postmark(hook, { ...bounce(complaint.providerMessageId, 'SpamComplaint'), RecordType: 'SpamComplaint' })
    expect(await messageOf(complaint.id)).toMatchObject({ state: 'complained' })
    expect(await reasons()).toEqual(['complaint', 'hard_bounce'])
  })

  it('pauses the channel when too many refusals because of the sender are reported, each counted once', async () => {
    const hook = await setUp('email', 'postmark')
    const paused = async () => {
      const answer = await speak('GET', '/api/channels/email', { key: tenant.secretKey })
      return (answer.body.data['channel'] as { pauseReason: string | null }).pauseReason
    }
    const refuse = async (type: string, times = 1) => {
      const { providerMessageId } = await addMessage()
      for (let n = 0; n < times; n += 1) await postmark(hook, bounce(providerMessageId, type))
    }
    for (let n = 1; n < LEAST_MESSAGES; n += 1) await refuse('Blocked', 2)
    await refuse('SoftBounce')
    await refuse('HardBounce')
    expect(await paused()).toBeNull()
    await refuse('Blocked')
    expect(await paused()).toBe('Of 20 messages in 10 minutes, 20 were refused because of the sender')
  })

  it('pauses the channel when Twilio refuses all as messages of an unregistered number', async () => {
    const hook = await setUp('sms', 'twilio')
    for (let n = 0; n < 22; n += 1) {
      const { id } = await addMessage('sms')
      await twilio(`${hook}?message=${id}`, { MessageSid: `SM${n}`, MessageStatus: 'undelivered', ErrorCode: '30034' })
      if (n === 0) expect(await messageOf(id)).toMatchObject({ state: 'failed', reason: 'provider_refused' })
    }
    const answer = await speak('GET', '/api/channels/sms', { key: tenant.secretKey })
    expect((answer.body.data['channel'] as { pauseReason: string }).pauseReason).toMatch(
      /refused because of the sender/,
    )
  })

  it('suppresses the address that the provider names when the person was erased', async () => {
    const hook = await setUp('email', 'postmark')
    const { id } = await addMessage()
    await service.sql`
      update messages set contact_id = null, recipient = null, provider_message_id = null where id = ${id}`
    await postmark(
      hook,
      bounce('unknown', 'HardBounce', { Metadata: { 'sluice-message': id }, Email: 'Ada@Example.com' }),
    )
    expect(await suppressed('email', 'ada@example.com')).toBe(true)
    expect(await messageOf(id)).toMatchObject({ state: 'bounced', detail: null, provider_message_id: null })
  })

  it('that is repeated changes nothing, also after an operator has lifted the suppression', async () => {
    const hook = await setUp('email', 'postmark')
    const { id, providerMessageId } = await addMessage()
    const event = bounce(providerMessageId)
    await postmark(hook, event)
    const before = await messageOf(id)
    await speak('DELETE', '/api/suppressions?reason=hard_bounce', { key: tenant.secretKey })
    for (let n = 0; n < 3; n += 1) expect((await postmark(hook, event)).status).toBe(200)
    expect([await messageOf(id), await reasons()]).toEqual([before, []])
  })

  it('has one result with others, in whatever order they come, at once and repeated', async () => {
    const hook = await setUp('email', 'postmark')
    const events = (id: string) => [
      delivery(id, '2020-01-01T00:00:01Z'),
      bounce(id, 'SoftBounce', { BouncedAt: '2020-01-01T00:00:02Z' }),
      bounce(id, 'HardBounce', { BouncedAt: '2020-01-01T00:00:03Z' }),
      { ...bounce(id, 'SpamComplaint', { BouncedAt: '2020-01-01T00:00:04Z' }), RecordType: 'SpamComplaint' },
    ]
    const order = fc.shuffledSubarray([0, 1, 2, 3, 0, 1, 2, 3], { minLength: 8, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(order, fc.boolean(), async (places, atOnce) => {
        const { id, providerMessageId } = await addMessage()
        const all = events(providerMessageId)
        if (atOnce) await Promise.all(places.map((place) => postmark(hook, all[place]!)))
        else for (const place of places) await postmark(hook, all[place]!)
        expect(await messageOf(id)).toMatchObject({ state: 'complained' })
        expect((await statesOf(id)).slice(2)).toEqual([
          ['delivered', Date.UTC(2020, 0, 1, 0, 0, 1)],
          ['bounced', Date.UTC(2020, 0, 1, 0, 0, 2)],
          ['complained', Date.UTC(2020, 0, 1, 0, 0, 4)],
        ])
        expect(await reasons()).toEqual(['complaint', 'hard_bounce'])
      }),
      { numRuns: runs(20) },
    )
  })

  it.each(['unknown', 'claimed'])('settles a message that is %s, by our own id', async (state) => {
    const hook = await setUp('email', 'postmark')
    const { id } = await addMessage('email', { state })
    await postmark(hook, { ...delivery('a new id'), Metadata: { 'sluice-message': id } })
    expect(await messageOf(id)).toMatchObject({ state: 'delivered', sent_at: 1000 })
  })

  it('is a success without effect when there is no such message of the channel and business', async () => {
    const hook = await setUp('email', 'postmark')
    const sms = await addMessage('sms')
    const other = await addMessage()
    await service.sql`update messages set business_id = gen_random_uuid() where id = ${other.id}`
    for (const id of ['nothing', sms.providerMessageId, other.providerMessageId]) {
      expect((await postmark(hook, bounce(id, 'HardBounce', { Email: 'ada@example.com' }))).status).toBe(200)
      expect((await postmark(hook, bounce('x', 'HardBounce', { Metadata: { 'sluice-message': id } }))).status).toBe(200)
    }
    for (const { id } of [sms, other]) expect(await messageOf(id)).toMatchObject({ state: 'sent' })
    expect(await reasons()).toEqual([])
    for (const body of ['', '{', 'null', '[]', '{"RecordType":"Delivery"}'])
      expect((await speak('POST', hook, { raw: body, headers: POSTMARK })).status).toBe(200)
  })

  it('that a person has unsubscribed at Postmark is an opt-out, and none is an opt-in', async () => {
    const hook = await setUp('email', 'postmark')
    const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
    const identity = { email: `${crypto.randomUUID()}@shop.example` }
    const { contactId } = (await ask('POST', '/api/sdk/identify', { identity })).body.data as { contactId: string }
    const choose = (email: boolean) =>
      ask('PUT', `/api/contacts/${contactId}/subscriptions`, { email, method: 'signup form' })
    const isSubscribed = async () => {
      const { data } = (await ask('GET', `/api/contacts/${contactId}`)).body
      return (data['contact'] as { subscriptions: { email: boolean } }).subscriptions.email
    }
    const many = async () => {
      const [row] = await service.sql<{ many: number }[]>`
        select count(*)::int as many from consent_history where contact_id = ${contactId}`
      return row?.many
    }
    const { id } = await addMessage()
    await service.sql`update messages set contact_id = ${contactId} where id = ${id}`
    const change = (more: object) =>
      postmark(hook, {
        RecordType: 'SubscriptionChange',
        Recipient: 'another@shop.example',
        Origin: 'Recipient',
        SuppressSending: true,
        SuppressionReason: 'ManualSuppression',
        ChangedAt: new Date().toISOString(),
        ...more,
      })
    await choose(true)
    const optOut = { Metadata: { 'sluice-message': id }, ChangedAt: new Date().toISOString() }
    for (let n = 0; n < 2; n += 1) expect((await change(optOut)).status).toBe(200)
    expect([await isSubscribed(), await many(), await reasons()]).toEqual([false, 2, []])
    expect((await change({ ...optOut, SuppressSending: false, SuppressionReason: null })).status).toBe(200)
    expect(await isSubscribed()).toBe(false)
    // A later choice stands.
    await choose(true)
    expect((await change(optOut)).status).toBe(200)
    expect(await isSubscribed()).toBe(true)
    // Made on a page of Postmark: only the address is known.
    const MessageID = '00000000-0000-0000-0000-000000000000'
    expect((await change({ MessageID, Recipient: identity.email.toUpperCase(), Origin: 'Admin' })).status).toBe(200)
    expect(await isSubscribed()).toBe(false)
    expect((await change({ MessageID, Recipient: 'nobody@shop.example' })).status).toBe(200)
    expect((await change({ ...optOut, SuppressionReason: 'SpamComplaint' })).status).toBe(200)
    expect(await reasons()).toEqual(['complaint'])
  })

  it('comes from Resend, signed', async () => {
    const hook = await setUp('email', 'resend')
    const { id } = await addMessage('email', { state: 'unknown' })
    const raw = JSON.stringify({
      type: 'email.bounced',
      created_at: '2020-01-01T00:00:01Z',
      data: { email_id: 'e1', tags: { sluice_message: id }, bounce: { type: 'Permanent' } },
    })
    const seconds = Math.floor(Date.now() / 1000)
    const send = (key: string) => {
      const signature = createHmac('sha256', key).update(`msg_1.${seconds}.${raw}`).digest('base64')
      const headers = { 'svix-id': 'msg_1', 'svix-timestamp': String(seconds), 'svix-signature': `v1,${signature}` }
      return speak('POST', hook, { raw, headers })
    }
    expect((await send('another key')).status).toBe(403)
    expect(await messageOf(id)).toMatchObject({ state: 'unknown' })
    expect((await send('the key of svix')).status).toBe(200)
    expect(await messageOf(id)).toMatchObject({ state: 'bounced', provider_message_id: expect.any(String) as string })
    expect(await suppressed('email', 'ada@example.com')).toBe(true)
  })

  it('comes from Twilio, signed over the public address', async () => {
    const hook = await setUp('sms', 'twilio')
    const { id } = await addMessage('sms', { state: 'unknown' })
    const fields = { MessageSid: 'SM1', MessageStatus: 'delivered', To: '+972501234567' }
    const at = `${hook}?message=${id}`
    expect((await twilio(at, fields, service.url + at)).status).toBe(403)
    const answer = await twilio(at, fields)
    expect([answer.status, answer.headers.get('content-type'), answer.text]).toEqual([
      200,
      'text/xml; charset=utf-8',
      '<?xml version="1.0" encoding="UTF-8"?><Response></Response>',
    ])
    expect(await messageOf(id)).toMatchObject({ state: 'delivered' })
  })

  it('leaves the reason of a message that was given up, until the provider has refused it', async () => {
    const hook = await setUp('sms', 'twilio')
    const { id } = await addMessage('sms', { state: 'failed', providerMessageId: 'SM1' })
    await service.sql`update messages set reason = 'gave_up' where id = ${id}`
    const report = async (MessageStatus: string, more: Record<string, string> = {}) => {
      expect((await twilio(hook, { MessageSid: 'SM1', MessageStatus, ...more })).status).toBe(200)
      return messageOf(id)
    }
    expect(await report('sent')).toMatchObject({ state: 'failed', reason: 'gave_up' })
    expect(await report('failed')).toMatchObject({ state: 'failed', reason: 'provider_refused' })
    expect(await report('delivered')).toMatchObject({ state: 'delivered', reason: null })
  })

  it('comes from Meta, after a handshake', async () => {
    const hook = await setUp('whatsapp', 'meta')
    const shake = (token: string) =>
      speak('GET', `${hook}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`)
    const shaken = await shake('verify')
    expect([shaken.status, shaken.text]).toEqual([200, '1158201444'])
    expect((await shake('other')).status).toBe(403)
    const { id } = await addMessage('whatsapp', { state: 'unknown' })
    const statuses = [
      { id: 'wamid.1', status: 'read', timestamp: '1577836801', biz_opaque_callback_data: id },
      { id: 'wamid.1', status: 'sent', timestamp: '1577836800', biz_opaque_callback_data: id },
    ]
    expect((await meta(hook, { statuses }, 'other')).status).toBe(403)
    expect((await meta(hook, { statuses })).status).toBe(200)
    expect((await statesOf(id)).map(([state]) => state)).toEqual(['claimed', 'unknown', 'sent', 'delivered'])
  })
})

describe('a reply', () => {
  const NUMBER = '972501234567'
  const reply = (hook: string, Body: string, MessageSid: string = crypto.randomUUID()) =>
    twilio(hook, { From: `+${NUMBER}`, To: '+15005550006', Body, MessageSid })

  it('STOP suppresses the number, START lifts that alone, HELP does nothing', async () => {
    const hook = await setUp('sms', 'twilio')
    await reply(hook, 'HELP')
    expect(await reasons()).toEqual([])
    await reply(hook, ' stop ')
    expect([await suppressed('sms', NUMBER), await suppressed('whatsapp', NUMBER)]).toEqual([true, false])
    const json = { suppressions: [{ channel: 'sms', address: `+${NUMBER}` }] }
    await speak('POST', '/api/suppressions', { key: tenant.secretKey, json })
    await reply(hook, 'Start')
    expect(await reasons()).toEqual(['manual'])
  })

  it('that is repeated after a later one changes nothing', async () => {
    const hook = await setUp('sms', 'twilio')
    await reply(hook, 'STOP', 'SM1')
    await reply(hook, 'START', 'SM2')
    await reply(hook, 'STOP', 'SM1')
    expect(await reasons()).toEqual([])
    await reply(hook, 'STOP', 'SM3')
    expect(await reasons()).toEqual(['stop'])
  })

  it('counts by its instant, in whatever order the replies come', async () => {
    const hook = await setUp('whatsapp', 'meta')
    const words = fc.array(fc.record({ word: fc.constantFrom('STOP', 'START'), at: fc.integer({ min: 1, max: 4 }) }), {
      minLength: 1,
      maxLength: 5,
    })
    await fc.assert(
      fc.asyncProperty(words, fc.integer(), async (said, seed) => {
        const from = `97254${String(Math.abs(seed) % 10_000_000).padStart(7, '0')}`
        await service.sql`delete from stop_words`
        await service.sql`delete from suppressions`
        const messages = said.map(({ word, at }, place) => ({
          from,
          id: `wamid.${place}`,
          timestamp: String(1_577_836_800 + at),
          text: { body: word },
        }))
        await meta(hook, { messages: [...messages].toReversed() })
        await meta(hook, { messages })
        const last = Math.max(...said.map(({ at }) => at))
        const isStopped = said.some(({ word, at }) => at === last && word === 'STOP')
        expect(await suppressed('whatsapp', from)).toBe(isStopped)
      }),
      { numRuns: runs(30) },
    )
  })

  it.each([
    ['+525543142412', '5215543142412'],
    ['+5511943142434', '551143142434'],
    ['+541143142456', '5491143142456'],
  ])('by WhatsApp holds for %s, which WhatsApp writes as %s', async (phone, from) => {
    const hook = await setUp('whatsapp', 'meta')
    let sent = 0
    const say = (body: string, by = from) =>
      meta(hook, {
        messages: [{ from: by, id: `w${++sent}`, timestamp: String(1_577_836_800 + sent), text: { body } }],
      })
    const digits = phone.slice(1)
    const found = async () => {
      const query = `?channel=whatsapp&address=${encodeURIComponent(phone)}`
      const answer = await speak('GET', `/api/suppressions${query}`, { key: tenant.secretKey })
      return (answer.body.data['suppressions'] as { reason: string }[]).map(({ reason }) => reason)
    }
    expect((await say('STOP')).status).toBe(200)
    expect([await found(), await suppressed('whatsapp', digits), await suppressed('whatsapp', from)]).toEqual([
      ['stop'],
      true,
      true,
    ])
    expect(await suppressed('sms', digits)).toBe(false)
    const tested = await speak('POST', '/api/channels/whatsapp/test', { key: tenant.secretKey, json: { to: phone } })
    expect([tested.status, tested.body.error?.issues?.[0]?.path]).toEqual([400, 'to'])
    // A list can have either form.
    const json = { suppressions: [{ channel: 'whatsapp', address: phone, reason: 'stop' }] }
    const listed = await speak('POST', '/api/suppressions', { key: tenant.secretKey, json })
    expect(listed.body.data).toMatchObject({ added: 0, known: 1 })
    await say('START', digits)
    expect([await found(), await suppressed('whatsapp', from)]).toEqual([[], false])
    // An older word in the other form changes nothing.
    sent -= 2
    await say('STOP')
    expect(await suppressed('whatsapp', digits)).toBe(false)
  })

  it('in two forms of a number counts by its instant, whatever the order', async () => {
    const hook = await setUp('whatsapp', 'meta')
    const said = fc.record({
      word: fc.constantFrom('STOP', 'START'),
      from: fc.constantFrom('525543142412', '5215543142412'),
      at: fc.integer({ min: 1, max: 4 }),
    })
    const all = fc.array(said, { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(all, fc.boolean(), async (words, isReversed) => {
        await service.sql`delete from stop_words`
        await service.sql`delete from suppressions`
        const messages = words.map(({ word, from, at }, place) => ({
          from,
          id: `wamid.${place}`,
          timestamp: String(1_577_836_800 + at),
          text: { body: word },
        }))
        await meta(hook, { messages: isReversed ? messages.toReversed() : messages })
        const last = Math.max(...words.map(({ at }) => at))
        const isStopped = words.some(({ word, at }) => at === last && word === 'STOP')
        for (const form of ['525543142412', '5215543142412'])
          expect([form, await suppressed('whatsapp', form)]).toEqual([form, isStopped])
      }),
      { numRuns: runs(30) },
    )
  })

  it('leaves at most 20 words of a number', async () => {
    const hook = await setUp('sms', 'twilio')
    for (let n = 0; n < 22; n += 1) await reply(hook, n % 2 === 0 ? 'STOP' : 'START')
    const [row] = await service.sql<{ many: number }[]>`
      select count(*)::int as many from stop_words where business_id = ${tenant.businessId}`
    expect(row?.many).toBe(20)
    expect(await reasons()).toEqual([])
  })
})

describe('many reports in one call', () => {
  const statusOf = ({ id, ...more }: { id: string; status?: string; at?: number }) => ({
    id: 'wamid.1',
    status: more.status ?? 'delivered',
    timestamp: String(1_577_836_800 + (more.at ?? 0)),
    biz_opaque_callback_data: id,
  })

  it('are all applied, in few transactions, and change nothing when they come again', async () => {
    const hook = await setUp('whatsapp', 'meta')
    const added = await service.sql<{ id: string }[]>`
      insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, claimed_at, states,
        template_id)
      select ${tenant.businessId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'a',
        'whatsapp', 'unknown', 1000, '[{"state":"claimed","at":1000},{"state":"unknown","at":1000}]', gen_random_uuid()
      from generate_series(1, 250) returning id`
    const statuses = added.flatMap(({ id }) => [
      statusOf({ id, status: 'read', at: 1 }),
      statusOf({ id, status: 'sent' }),
    ])
    const written = async () => {
      const [row] = await service.sql<{ transactions: number; delivered: number }[]>`
        select count(distinct xmin::text)::int as transactions, count(*) filter (where state = 'delivered')::int as delivered
        from messages where business_id = ${tenant.businessId}`
      return row!
    }
    expect((await meta(hook, { statuses })).status).toBe(200)
    expect(await written()).toEqual({ transactions: 5, delivered: 250 })
    const versions = () => service.sql`
      select id, xmin::text, ctid::text from messages where business_id = ${tenant.businessId} order by id`
    const before = [...(await versions())]
    expect((await meta(hook, { statuses: statuses.toReversed() })).status).toBe(200)
    expect([...(await versions())]).toEqual(before)
  })

  it('have one result, whatever their order and however they are split into calls at once', async () => {
    const hook = await setUp('whatsapp', 'meta')
    const order = fc.shuffledSubarray([...Array(12).keys()], { minLength: 12, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(order, fc.integer({ min: 1, max: 12 }), async (places, size) => {
        const ids = []
        for (let n = 0; n < 4; n += 1) ids.push((await addMessage('whatsapp', { state: 'unknown' })).id)
        const all = ids.flatMap((id) => [
          statusOf({ id, status: 'sent', at: 1 }),
          statusOf({ id, status: 'delivered', at: 2 }),
          statusOf({ id, status: 'read', at: 3 }),
        ])
        const shuffled = places.map((place) => all[place]!)
        const calls = []
        for (let at = 0; at < shuffled.length; at += size)
          calls.push(meta(hook, { statuses: shuffled.slice(at, at + size) }))
        // Those that were applied already are sent again.
        calls.push(meta(hook, { statuses: all }))
        expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200))
        for (const id of ids)
          expect((await statesOf(id)).slice(2)).toEqual([
            ['sent', 1_577_836_801_000],
            ['delivered', 1_577_836_802_000],
          ])
      }),
      { numRuns: runs(20) },
    )
  })

  it('are at most 2,000: with one more, none is recorded', async () => {
    const hook = await setUp('whatsapp', 'meta')
    const { id } = await addMessage('whatsapp', { state: 'unknown' })
    const many = (length: number) => Array.from({ length }, () => statusOf({ id }))
    const refused = await meta(hook, { statuses: many(MAX_FACTS + 1) })
    expect([refused.status, refused.body.error.code]).toEqual([413, 'payload_too_large'])
    expect(await messageOf(id)).toMatchObject({ state: 'unknown' })
    expect((await meta(hook, { statuses: many(MAX_FACTS) })).status).toBe(200)
    expect(await messageOf(id)).toMatchObject({ state: 'delivered' })
  })
})

describe('a callback', () => {
  it('is refused without the right token, for the channel and provider that it has', async () => {
    const hook = await setUp('email', 'postmark')
    const { id, providerMessageId } = await addMessage()
    const token = hook.split('/').at(-1) ?? ''
    const changed = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
    const paths = [
      `/api/hooks/email/postmark/${changed}`,
      `/api/hooks/email/resend/${token}`,
      `/api/hooks/sms/postmark/${token}`,
      `/api/hooks/fax/postmark/${token}`,
      '/api/hooks/email/postmark/x',
    ]
    for (const path of paths) {
      const answer = await postmark(path, delivery(providerMessageId))
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 403, 'forged_callback'])
    }
    expect((await postmark(hook, delivery(providerMessageId), {})).status).toBe(403)
    expect(await messageOf(id)).toMatchObject({ state: 'sent' })
    expect((await speak('GET', hook)).status).toBe(405)
  })

  describe('from the provider before', () => {
    const expire = () => service.sql`
      update channels set former = jsonb_set(former, '{until}', to_jsonb(${Date.now()}::bigint)) where business_id = ${tenant.businessId}`

    it('is taken for a week, and pauses nothing', async () => {
      const hook = await setUp('email', 'postmark')
      const messages = []
      for (let n = 0; n <= LEAST_MESSAGES; n += 1) messages.push(await addMessage())
      await setUp('email', 'resend')
      for (const { providerMessageId } of messages)
        expect((await postmark(hook, bounce(providerMessageId, 'Blocked'))).status).toBe(200)
      expect(await messageOf(messages[0]!.id)).toMatchObject({ state: 'failed' })
      const shown = await speak('GET', '/api/channels/email', { key: tenant.secretKey })
      expect(shown.body.data['channel']).toMatchObject({ provider: 'resend', pausedAt: null })
      expect(shown.text).not.toContain('former')
      expect((await postmark(hook, {}, {})).status).toBe(403)
      await expire()
      expect((await postmark(hook, {})).status).toBe(403)
      await forgetFormer(service.sql, Date.now())
      const [row] = await service.sql`select former from channels where business_id = ${tenant.businessId}`
      expect(row).toEqual({ former: null })
    })

    it('is the latest one that reports', async () => {
      const hook = await setUp('email', 'postmark')
      await speak('PUT', '/api/channels/email', { key: tenant.secretKey, json: { provider: 'log' } })
      expect((await postmark(hook, {})).status).toBe(200)
      await setUp('email', 'resend')
      expect((await postmark(hook, {})).status).toBe(200)
      await speak('PUT', '/api/channels/email', { key: tenant.secretKey, json: { provider: 'log' } })
      expect((await postmark(hook, {})).status).toBe(403)
    })

    it('is refused once the settings were deleted', async () => {
      const hook = await setUp('email', 'postmark')
      await setUp('email', 'resend')
      await speak('DELETE', '/api/channels/email', { key: tenant.secretKey })
      expect((await postmark(hook, {})).status).toBe(403)
    })

    it('is taken of another account of the same one, and not by a secret that was replaced', async () => {
      const hook = await setUp('sms', 'twilio')
      const put = (more: object) =>
        speak('PUT', '/api/channels/sms', {
          key: tenant.secretKey,
          json: { provider: 'twilio', ...SETTINGS['twilio'], ...more },
        })
      await put({ authToken: 'another' })
      expect((await twilio(hook, { MessageSid: 'SM1', MessageStatus: 'sent' })).status).toBe(403)
      await put({})
      await put({ accountSid: 'AC0124', authToken: 'another' })
      expect((await twilio(hook, { MessageSid: 'SM1', MessageStatus: 'sent' })).status).toBe(200)
    })
  })

  it('has its address for ever, and another one for each business', async () => {
    const hook = await setUp('email', 'postmark')
    expect(await setUp('email', 'postmark')).toBe(hook)
    const { businessId: _, ...other } = await createBusiness(service.sql)
    tenant = { ...tenant, ...other }
    const answer = await speak('GET', '/api/channels', { key: tenant.secretKey })
    expect(answer.text).not.toContain('callbackUrl')
  })

  it('is limited when it is forged, by address', async () => {
    const hook = await setUp('email', 'postmark')
    const from = (address: string, headers: Record<string, string>) =>
      postmark(hook, {}, { ...headers, 'x-forwarded-for': address })
    for (let n = 0; n < FORGED_CALLBACKS; n += 1) expect((await from('192.0.2.7', {})).status).toBe(403)
    expect((await from('192.0.2.7', {})).status).toBe(429)
    expect((await from('192.0.2.8', {})).status).toBe(403)
    // Genuine callbacks of the provider are not limited.
    expect((await from('192.0.2.7', POSTMARK)).status).toBe(200)
  })

  it('has a body of at most 3 MiB', async () => {
    const hook = await setUp('email', 'postmark')
    const { bytes } = BODY_LIMITS.callback
    const send = (size: number) => speak('POST', hook, { raw: ' '.repeat(size), headers: POSTMARK })
    expect([(await send(bytes)).status, (await send(bytes + 1)).status]).toEqual([200, 413])
    const gzip = { ...POSTMARK, 'content-encoding': 'gzip' }
    expect((await speak('POST', hook, { raw: '{}', headers: gzip })).status).toBe(415)
  })

  it('is asked for again while the secrets cannot be opened', async () => {
    const hook = await setUp('email', 'postmark')
    await service.sql`update channels set secret = 'v1:x' where business_id = ${tenant.businessId}`
    expect((await postmark(hook, {})).status).toBe(503)
  })
})
