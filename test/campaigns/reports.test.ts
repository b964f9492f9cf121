/** Refusals and reports of providers, from the send onwards. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendMessage } from '../../src/campaigns/engine/send/send-message.ts'
import { settle } from '../../src/campaigns/engine/settle/settle.ts'
import { readMessage } from '../../src/campaigns/read-messages.ts'
import { applyFacts } from '../../src/messages/callbacks/apply-facts.ts'
import type { CallbackFact } from '../../src/messages/callbacks/callbacks.ts'
import { twilioCallbacks } from '../../src/messages/callbacks/twilio.ts'
import { saveChannel } from '../../src/messages/channels/save-channel.ts'
import { lockCount } from '../../src/messages/suppressions/suppress.ts'
import type { MessageReport, ReportedState } from '../../src/rules/messages/message-reports.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { LOOPBACK_GUARD, SECRETS_KEY } from '../deliveries/delivery-lab.ts'
import { type Platform, json, openPlatform } from '../deliveries/platform.ts'
import { openScriptedServer } from '../messages/channels/mail-server.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { ACTOR, ANN, type Engine, type Shop, isWaiting, openEngine, openShop, useMailServer } from './engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
beforeAll(async () => {
  stack = await openStack()
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
  engine.deps.config.secretsKey = SECRETS_KEY
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  engine.clock.now = NOW
  shop = openShop(stack, engine, pipeline, businessId)
})

type SentBy = 'email' | 'sms' | 'whatsapp'

async function signUp(channel: SentBy = 'email', identity: object = ANN): Promise<string> {
  await shop.publish([{ id: 'a', type: 'send', channel, template: await shop.template(channel) }], { quietHours: null })
  const { contactId } = (await pipeline.apply(shop.live('seen', identity)))[0] as TrackAnswer
  await shop.optIn(contactId, channel)
  await pipeline.apply(shop.live('signup', identity))
  return contactId
}

async function useProvider(channel: SentBy, settings: Record<string, unknown>): Promise<Platform> {
  const platform = await openPlatform()
  closing.push(() => platform.close())
  const deps = { sql: stack.sql, guard: LOOPBACK_GUARD, secretsKey: SECRETS_KEY, now: engine.deps.now }
  const key = { businessId: shop.businessId, channel, actor: ACTOR }
  const saved = await saveChannel(deps, key, () => ({ ...settings, baseUrl: platform.url }))
  if (saved.kind !== 'saved') throw new Error(JSON.stringify(saved))
  return platform
}
const RESEND = { provider: 'resend', sender: 'hello@shop.example', apiKey: 're_1' }
const TWILIO = { provider: 'twilio', accountSid: 'AC01', authToken: 'token', from: '+15005550006' }
const META = { provider: 'meta', phoneNumberId: '1065', token: 't', appSecret: 'app-secret' }

const PHONE = { phone: '972501234567', phoneRead: true }

const reasons = async () => {
  const rows = await stack.sql<{ reason: string }[]>`
    select reason from suppressions where business_id = ${shop.businessId}`
  return rows.map(({ reason }) => reason)
}
const report = (id: string, state: ReportedState) => applyTo('email', id, { state, at: NOW + 5 })
const applyTo = (channel: 'email' | 'sms', id: string, reported: MessageReport) =>
  applyFact(channel, {
    kind: 'report',
    report: reported,
    messageId: id,
    providerMessageId: 'p1',
    address: null,
    detail: null,
  })
const applyFact = async (channel: 'email' | 'sms', fact: CallbackFact | undefined) => {
  if (fact?.kind !== 'report') throw new Error('there is no report')
  const key = { businessId: shop.businessId, channel, sender: 'default' }
  await applyFacts(engine.deps, key, [fact], { receivedAt: NOW + 10, isCurrent: true })
}

describe('a refusal', () => {
  it.each([
    [{ RCPT: '550 5.1.1 no such user' }, ['hard_bounce']],
    [{ RCPT: '550 no such user' }, ['hard_bounce']],
    [{ RCPT: '550 5.7.1 blocked' }, []],
    [{ RCPT: '552 5.2.2 full' }, []],
    [{ MAIL: '550 5.1.1 no such sender' }, []],
    [{ message: '550 blocked' }, []],
    [{ message: '550 5.1.1 no such user' }, ['hard_bounce']],
    [{ RCPT: '450 5.1.1 later' }, []],
  ])('by mail %j suppresses for %j', async (script, expected) => {
    const server = await openScriptedServer(script)
    closing.push(() => server.close())
    await useMailServer(stack, engine.deps, shop.businessId, server.port)
    await signUp()
    await engine.drain()
    expect(await reasons()).toEqual(expected)
    const kept = 'RCPT' in script && script.RCPT.startsWith('4') ? 'a claimed' : null
    expect(await shop.states()).toEqual([kept ?? `a ${expected.length > 0 ? 'bounced' : 'failed'} provider_refused`])
  })

  it.each([
    [21_610, 'failed', ['stop']],
    [21_211, 'bounced', ['hard_bounce']],
    [21_614, 'bounced', ['hard_bounce']],
    [21_608, 'failed', []],
  ])('by Twilio with the code %i is %s, and suppresses for %j', async (code, state, expected) => {
    const platform = await useProvider('sms', TWILIO)
    platform.reply = json(400, { code, message: 'no', status: 400 })
    await signUp('sms', PHONE)
    await engine.drain()
    expect(await shop.states()).toEqual([`a ${state} provider_refused`])
    expect(await reasons()).toEqual(expected)
  })

  it.each([
    ['later', 5],
    ['with an earlier time', -5],
  ])('that is reported again %s suppresses no address that was lifted, and sends nothing', async (_, after) => {
    const platform = await useProvider('sms', TWILIO)
    platform.reply = json(400, { code: 21_211, message: 'no', status: 400 })
    await signUp('sms', PHONE)
    await engine.drain()
    const [refused] = await shop.messages()
    await stack.sql`delete from suppressions where business_id = ${shop.businessId}`
    const again: MessageReport = { state: 'bounced', at: NOW + after, blame: 'hard_bounce' }
    await applyTo('sms', String(refused!['id']), again)
    expect(await reasons()).toEqual([])
    expect((await shop.messages())[0]).toMatchObject({ state: 'bounced', sent_at: null })
  })

  it.each(['failed', 'undelivered'])(
    'for a STOP that Twilio reports again as %s suppresses nothing anew',
    async (status) => {
      const platform = await useProvider('sms', TWILIO)
      platform.reply = json(400, { code: 21_610, message: 'no', status: 400 })
      await signUp('sms', PHONE)
      await engine.drain()
      const [refused] = await shop.messages()
      // The person has sent START since.
      await stack.sql`delete from suppressions where business_id = ${shop.businessId}`
      const url = `https://shop.example/hook?message=${String(refused!['id'])}`
      const body = Buffer.from(`MessageStatus=${status}&ErrorCode=21610&MessageSid=SM1&To=%2B972501234567`)
      const callback = { url, headers: new Headers(), body, receivedAt: NOW + 5 }
      const [fact] = twilioCallbacks.read(callback, { settings: {}, secret: {} })
      await applyFact('sms', fact)
      expect(await reasons()).toEqual([])
      expect((await shop.messages())[0]).toMatchObject({ state: 'failed', reason: 'provider_refused', sent_at: null })
    },
  )

  it('because of the sender counts once, also when it is reported again', async () => {
    const platform = await useProvider('sms', TWILIO)
    platform.reply = json(400, { code: 21_608, message: 'no', status: 400 })
    await signUp('sms', PHONE)
    await engine.drain()
    const [refused] = await shop.messages()
    await applyTo('sms', String(refused!['id']), { state: 'failed', at: NOW + 5, blame: 'sender' })
    const [counted] = await stack.sql`
      select sum(refused)::integer as refused from channel_outcomes where business_id = ${shop.businessId}`
    expect(counted).toEqual({ refused: 1 })
  })
})

describe('a message', () => {
  it('that Resend may have taken is asked for again with its key', async () => {
    const platform = await useProvider('email', RESEND)
    platform.reply = json(500, { name: 'internal_server_error' })
    await signUp()
    await engine.drain()
    expect(await shop.states()).toEqual(['a claimed'])
    platform.reply = json(200, { id: 'p1' })
    await engine.drain(NOW + 30_000)
    expect(await shop.states()).toEqual(['a sent'])
    const [message] = await shop.messages()
    expect(platform.heard.map(({ headers }) => headers['idempotency-key'])).toEqual([message!['id'], message!['id']])
    expect(message).toMatchObject({ provider: 'resend', provider_message_id: 'p1' })
  })

  it('that is to be tried again is not, once it is reported', async () => {
    const platform = await useProvider('email', RESEND)
    platform.reply = json(500, {})
    await signUp()
    await engine.drain()
    const [message] = await shop.messages()
    await report(String(message!['id']), 'delivered')
    await engine.drain(NOW + 30_000)
    expect(platform.heard).toHaveLength(1)
    expect([await shop.states(), await shop.enrolments()]).toEqual([['a delivered'], ['finished']])
  })

  it('goes to Twilio with the address for its reports', async () => {
    const platform = await useProvider('sms', TWILIO)
    platform.reply = json(201, { sid: 'SM1' })
    await signUp('sms', PHONE)
    await engine.drain()
    const [message] = await shop.messages()
    const form = new URLSearchParams(platform.heard[0]?.body)
    expect(form.get('StatusCallback')).toMatch(
      new RegExp(`^https://shop.example/api/hooks/sms/twilio/[\\w-]{46}\\?message=${String(message!['id'])}$`),
    )
  })

  it('that is reported before the answer to another attempt keeps both', async () => {
    const platform = await useProvider('email', RESEND)
    platform.reply = json(500, {})
    await signUp()
    await engine.drain()
    platform.reply = json(200, { id: 'p1' })
    engine.clock.now = NOW + 30_000
    const [claimed] = await engine.claim()
    const attempt = await sendMessage(engine.deps, claimed!, AbortSignal.timeout(20_000))
    await report(claimed!.messageId, 'delivered')
    for (let time = 0; time < 2; time++) await settle(engine.deps, claimed!, attempt)
    const read = await readMessage(stack.sql, shop.businessId, claimed!.messageId)
    expect(read?.states.map((one) => one.state)).toEqual(['claimed', 'sent', 'delivered'])
  })

  it.each(['delivered', 'bounced'] as const)('that is %s before its answer is recorded keeps both', async (state) => {
    const platform = await useProvider('email', RESEND)
    platform.reply = json(200, { id: 'p1' })
    await signUp()
    const [claimed] = await engine.claim()
    const attempt = await sendMessage(engine.deps, claimed!, AbortSignal.timeout(20_000))
    await report(claimed!.messageId, state)
    await settle(engine.deps, claimed!, attempt)
    await engine.drain()
    expect([await shop.states(), await shop.enrolments()]).toEqual([[`a ${state}`], ['finished']])
    const read = await readMessage(stack.sql, shop.businessId, claimed!.messageId)
    expect(read).toMatchObject({ provider: 'resend', state })
    expect(read?.states.map((one) => one.state)).toEqual(['claimed', 'sent', state])
    const [message] = await shop.messages()
    expect(message!['values']).toContain('contact')
  })
})

describe("WhatsApp's id of a person", () => {
  const ID = '972509999999'
  const ids = async () => {
    const rows = await stack.sql<{ address: string; wa_id: string }[]>`
      select address, wa_id from whatsapp_ids where business_id = ${shop.businessId} order by address`
    return rows.map(({ address, wa_id }) => `${address} ${wa_id}`)
  }
  const erase = (contactId: string) =>
    pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
  const useMeta = async () => {
    const platform = await useProvider('whatsapp', META)
    platform.reply = json(200, { contacts: [{ wa_id: ID }], messages: [{ id: 'wamid.1' }] })
  }
  const stop = () =>
    applyFacts(
      engine.deps,
      { businessId: shop.businessId, channel: 'whatsapp', sender: 'default' },
      [{ kind: 'word', word: 'stop', address: `+${ID}`, replyId: 'w1', at: NOW }],
      { receivedAt: NOW + 10, isCurrent: true },
    )

  it('is kept with the message, so that its STOP ends the messages to the address', async () => {
    await useMeta()
    await signUp('whatsapp', PHONE)
    await engine.drain()
    expect([await shop.states(), await ids()]).toEqual([['a sent'], [`${PHONE.phone} ${ID}`]])
    await stop()
    await signUp('whatsapp', PHONE)
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent', 'a skipped suppressed'])
  })

  it('goes with the person, whatever number a message went to, and those of others stay', async () => {
    await useMeta()
    const contactId = await signUp('whatsapp', PHONE)
    await engine.drain()
    await signUp('whatsapp', { phone: '972501111111', phoneRead: true })
    await engine.drain()
    const stranger = crypto.randomUUID()
    // A number that the person has no more, and one that the person has and a message of a test went to.
    await stack.sql`update messages set recipient = '972502222222' where contact_id = ${contactId}`
    // A number that is another person's by now.
    await stack.sql`
      insert into messages select (m).* from (
        select jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid(), 'step', 'b', 'recipient', '972501111111')) as m
        from messages m where contact_id = ${contactId}
      ) copies`
    await stack.sql`
      insert into whatsapp_ids (business_id, address, wa_id) values
        (${shop.businessId}, '972502222222', '1'), (${shop.businessId}, '972503333333', ${PHONE.phone}),
        (${stranger}, ${PHONE.phone}, ${ID})`
    expect(await ids()).toHaveLength(4)
    await erase(contactId)
    expect(await ids()).toEqual([`972501111111 ${ID}`])
    const others = await stack.sql`select from whatsapp_ids where business_id = ${stranger}`
    expect(others).toHaveLength(1)
  })

  it('is not kept after an erasure that came before the answer was recorded', async () => {
    await useMeta()
    const contactId = await signUp('whatsapp', PHONE)
    const [claimed] = await engine.claim()
    const attempt = await sendMessage(engine.deps, claimed!, AbortSignal.timeout(20_000))
    expect(attempt.outcome).toMatchObject({ kind: 'accepted', recipientId: ID })
    await erase(contactId)
    await settle(engine.deps, claimed!, attempt)
    expect([await shop.states(), await ids()]).toEqual([['a sent'], []])
  })

  describe('when its person is erased at once', () => {
    const untilWaiting = (words: string) =>
      expect.poll(() => isWaiting(stack.sql, words), { timeout: 20_000 }).toBe(true)

    it('is not kept after the erasure', async () => {
      await useMeta()
      const contactId = await signUp('whatsapp', PHONE)
      const [claimed] = await engine.claim()
      const attempt = await sendMessage(engine.deps, claimed!, AbortSignal.timeout(20_000))
      const settling = await stack.sql.begin(async (tx) => {
        await tx`select erase_contact(${shop.businessId}, ${contactId})`
        const settled = settle(engine.deps, claimed!, attempt)
        await untilWaiting('for key share')
        return { settled }
      })
      await settling.settled
      expect([await shop.states(), await ids()]).toEqual([['a sent'], []])
    })

    it('is deleted by the erasure that comes after it', async () => {
      await useMeta()
      const contactId = await signUp('whatsapp', PHONE)
      const [claimed] = await engine.claim()
      const attempt = await sendMessage(engine.deps, claimed!, AbortSignal.timeout(20_000))
      const both = await stack.sql.begin(async (tx) => {
        await lockCount(tx, shop.businessId)
        const settled = settle(engine.deps, claimed!, attempt)
        await untilWaiting('suppression_counts')
        const erased = stack.sql`select erase_contact(${shop.businessId}, ${contactId})`.execute()
        await untilWaiting('select erase_contact')
        return { settled, erased }
      })
      await Promise.all([both.settled, both.erased])
      expect([await shop.states(), await ids()]).toEqual([['a sent'], []])
    })
  })
})
