/** The messages of calls between the call and their end. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { forgetValues } from '../../src/campaigns/engine/send/forget-values.ts'
import { renderAgain } from '../../src/campaigns/read-messages.ts'
import { releaseHeld } from '../../src/messages/channels/release-held.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { suppress } from '../../src/messages/suppressions/suppress.ts'
import { applyFacts } from '../../src/messages/callbacks/apply-facts.ts'
import { inTransaction } from '../../src/stores/transaction.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { useChannel, useMailServer } from '../campaigns/engine-lab.ts'
import { type EngineLab, useEngineLab } from '../campaigns/use-engine-lab.ts'
import { openMailServer, openScriptedServer } from '../messages/channels/mail-server.ts'
import { NOW } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { type CallLab, call, callTemplate, drainCalls, dueCalls, openCallLab, readCalls, statesOf } from './call-lab.ts'

let lab: EngineLab
useEngineLab((opened) => (lab = opened))
let calls: CallLab
let template: string
let businessId: string
beforeAll(() => {
  calls = openCallLab(lab.stack.sql, lab.engine.clock)
})
afterAll(() => calls.close())
const closing: (() => unknown)[] = []
beforeEach(async () => {
  ;({ businessId } = lab.shop)
  template = await callTemplate(lab.engine, businessId)
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const clock = () => lab.engine.clock
const sql = () => lab.stack.sql
const send = (sent: Partial<Parameters<typeof call>[2]> = {}) =>
  call(calls, businessId, { template, data: { code: '4711' }, ...sent })
const drain = (moveTo?: number) => drainCalls(calls, clock(), moveTo)
const states = () => statesOf(sql(), businessId)
const due = () => dueCalls(sql(), businessId)

async function mailTo(opened: Promise<{ port: number; close(): Promise<void> }>): Promise<void> {
  const server = await opened
  closing.push(() => server.close())
  await useMailServer(lab.stack, lab.engine.deps, businessId, server.port)
}
async function mailServer() {
  const server = await openMailServer()
  await mailTo(Promise.resolve(server))
  return server
}
async function contactOf(email: string): Promise<string> {
  return ((await lab.pipeline.apply(lab.shop.live('seen', { email })))[0] as TrackAnswer).contactId
}

describe('a mail', () => {
  it('has its files, its Reply-To and no List-Unsubscribe; its links are its own', async () => {
    const server = await mailServer()
    await contactOf('ann@x.io')
    const logo = { filename: 'logo.png', contentType: 'image/png', content: 'AAAA', contentId: 'logo' }
    const bill = { filename: 'bill №1.pdf', contentType: 'application/pdf', content: 'JVBERi0=' }
    await send({ replyTo: 'Help <help@shop.example>', attachments: [bill, logo] })
    await drain()
    expect(await states()).toEqual(['sent'])
    const raw = server.heard[0]!.raw
    expect(raw).toContain('Reply-To: Help <help@shop.example>')
    expect(raw).not.toContain('List-Unsubscribe')
    expect(raw).toContain('https://shop.example/a')
    expect(raw).not.toContain('/c/')
    expect(raw).toContain('JVBERi0=')
    expect(raw).toContain('Content-ID: <logo>')
    expect(raw).toContain("filename*0*=utf-8''bill%20%E2%84%961.pdf")
    const files = await sql()<{ filename: string; size: number; content: Buffer | null }[]>`
      select filename, size, content from call_attachments where business_id = ${businessId} order by place`
    expect(files).toEqual([
      { filename: 'bill №1.pdf', size: 5, content: null },
      { filename: 'logo.png', size: 3, content: null },
    ])
  })

  it('to a contact is tracked when it is asked for', async () => {
    const server = await mailServer()
    await contactOf('ann@x.io')
    await send({ tracking: { clicks: true } })
    await send({ tracking: true })
    await send({ tracking: true, to: { email: 'nobody@x.io' } })
    await drain()
    const bodies = server.heard.map(({ raw }) => raw.replaceAll('=\r\n', ''))
    const many = (text: string) => bodies.filter((raw) => raw.includes(text)).length
    expect([many('https://shop.example/c/'), many('https://shop.example/o/')]).toEqual([2, 1])
  })

  it('that was surely not taken is tried again until it expires', async () => {
    await mailTo(openScriptedServer({ RCPT: '451 4.2.1 later' }))
    await send({ validFor: 'PT1M' })
    await drain()
    expect(await states()).toEqual(['claimed'])
    const [first] = await due()
    expect(first).toMatchObject({ claim: null, attempts: 1 })
    expect(first!.due_at - NOW).toBeLessThanOrEqual(2000)
    for (let at = first!.due_at; (await due()).length > 0; at = (await due())[0]?.due_at ?? 0) await drain(at)
    expect(await states()).toEqual(['skipped expired'])
    expect(clock().now).toBe(NOW + 60_000)
    // Its data are kept as others', and its rendering is none.
    const [message] = await readCalls(sql(), businessId)
    expect(JSON.parse(message!.values!)).toEqual({ data: { code: '4711' } })
    expect(calls.reported).toContain(message!.id)
  })

  it('that is refused for good bounces, and suppresses the address for the next one', async () => {
    await mailTo(openScriptedServer({ RCPT: '550 5.1.1 no such user' }))
    await send()
    await drain()
    expect(await states()).toEqual(['bounced provider_refused'])
    expect((await send()).message).toMatchObject({ state: 'skipped', reason: 'suppressed' })
  })

  it('without an answer after its content is unknown, and is never sent again', async () => {
    await mailTo(openScriptedServer({ message: 'hang up' }))
    await send()
    await drain()
    expect(await states()).toEqual(['unknown'])
    await drain(NOW + 86_400_000)
    expect(await states()).toEqual(['unknown'])
    expect(await due()).toEqual([])
  })
})

it('a template that was changed meanwhile is as it was when its data were checked', async () => {
  const server = await mailServer()
  await send()
  await sql()`update templates set version = 2 where id = ${template}`
  await sql()`
    insert into template_versions (business_id, template_id, version, channel, default_language, variants)
    values (${businessId}, ${template}, 2, 'email', 'en', '{"en":{"subject":"{{data.other}}","text":"x"}}')`
  await drain()
  expect(server.heard[0]!.raw).toContain('Subject: Code 4711')
})

describe('what holds a call', () => {
  it('is a pause of its sender, until the resume', async () => {
    await useChannel(sql(), { businessId, channel: 'email' }, { provider: 'log' })
    await sql()`update senders set paused_at = 1 where business_id = ${businessId}`
    await send()
    await drain()
    expect(await states()).toEqual(['queued'])
    expect(await due()).toMatchObject([{ held_by: { type: 'channel_paused', channel: 'email' }, claim: null }])
    await sql()`update senders set paused_at = null where business_id = ${businessId}`
    await releaseHeld(sql(), { businessId, channel: 'email', sender: 'default' }, NOW)
    await drain()
    expect(await states()).toEqual(['sent'])
  })

  it('is a limit per second, and the first free turn is its own, before that of any campaign', async () => {
    await useChannel(sql(), { businessId, channel: 'email' }, { provider: 'log', perSecond: 1 })
    const plain = await lab.shop.template()
    await lab.shop.publish([{ id: 'a', type: 'send', channel: 'email', template: plain }], { quietHours: null })
    for (const name of ['a', 'b', 'c', 'd']) {
      await lab.shop.optIn(await contactOf(`${name}@x.io`))
      await lab.pipeline.apply(lab.shop.live('signup', { email: `${name}@x.io` }, NOW))
    }
    await lab.engine.drain()
    expect(await lab.shop.states()).toEqual(['a sent'])
    await send()
    await send({ to: { email: 'bob@x.io' } })
    await drain()
    expect((await due()).map(({ due_at }) => due_at)).toEqual([NOW + 1000, NOW + 2000])
    // The campaign claims first, in each of the two seconds.
    for (const second of [1000, 2000]) {
      await lab.engine.drain(NOW + second)
      await drain()
    }
    expect(await states()).toEqual(['sent', 'sent'])
    expect(
      await sql()`select from messages where business_id = ${businessId} and campaign_id is not null`,
    ).toHaveLength(1)
    await lab.engine.drain(NOW + 3000)
    expect(
      await sql()`select from messages where business_id = ${businessId} and campaign_id is not null`,
    ).toHaveLength(2)
  })

  it('is a suppression since the call', async () => {
    await send()
    await inTransaction(sql(), async (tx) => {
      const address = { channel: 'email', address: 'ann@x.io', reason: 'manual' } as const
      await suppress(tx, await loadMessageKey(sql()), { businessId, now: NOW }, [address])
    })
    await drain()
    expect(await states()).toEqual(['skipped suppressed'])
  })

  it('is never longer than it is valid for', async () => {
    await useChannel(sql(), { businessId, channel: 'email' }, { provider: 'log' })
    await sql()`update senders set paused_at = 1 where business_id = ${businessId}`
    await send({ validFor: 'PT10S' })
    await drain(NOW + 9999)
    expect(await states()).toEqual(['queued'])
    await drain(NOW + 10_000)
    expect(await states()).toEqual(['skipped expired'])
  })
})

it('the sender that it names sends it; while that is paused, its fallback', async () => {
  await sql()`
    insert into senders (business_id, channel, key, provider, settings, revision, fallback) values
      (${businessId}, 'email', 'receipts', 'log', '{}', gen_random_uuid(), 'spare'),
      (${businessId}, 'email', 'spare', 'log', '{}', gen_random_uuid(), null)`
  await send({ sender: 'receipts' })
  await drain()
  await sql()`update senders set paused_at = 1 where business_id = ${businessId} and key = 'receipts'`
  await send({ sender: 'receipts' })
  await drain()
  const sent = await sql()<{ sender: string }[]>`
    select sender from messages where business_id = ${businessId} and state = 'sent' order by id`
  expect(sent.map(({ sender }) => sender)).toEqual(['receipts', 'spare'])
})

it('businesses take turns, and a business has its share alone', async () => {
  const other = await createBusiness(sql())
  const theirs = await callTemplate(lab.engine, other.businessId)
  for (let n = 0; n < 12; n += 1) await send({ to: { email: `a${n}@x.io` } })
  for (let n = 0; n < 3; n += 1)
    await call(calls, other.businessId, { template: theirs, data: { code: n }, to: { email: `b${n}@x.io` } })
  const { claimCalls } = await import('../../src/calls/engine/claim-calls.ts')
  const { sends } = await claimCalls(calls.deps, 6)
  const many = Map.groupBy(sends, (one) => one.businessId)
  expect([many.get(businessId)?.length, many.get(other.businessId)?.length]).toEqual([3, 3])
  const next = await claimCalls(calls.deps, 6, (id) => (id === businessId ? 2 : 6))
  expect(next.sends).toHaveLength(2)
})

describe('a person', () => {
  it('who is erased is sent nothing more, and leaves no trace but the count', async () => {
    const contactId = await contactOf('ann@x.io')
    await send({ to: { contactId }, attachments: [{ filename: 'a', contentType: 'a/b', content: 'AAAA' }] })
    await send({ to: { email: 'other@x.io' } })
    await sql()`select erase_contact(${businessId}, ${contactId})`
    await drain()
    expect(await states()).toEqual(['skipped ended', 'sent'])
    const [message] = await readCalls(sql(), businessId)
    expect(message).toMatchObject({ contact_id: null, recipient: null, values: null })
    expect(await sql()`select from call_attachments where business_id = ${businessId}`).toHaveLength(0)
  })

  it('whose contact is merged meanwhile gets it, and the survivor has it', async () => {
    const loser = await contactOf('ann@x.io')
    await send({ to: { contactId: loser } })
    const identity = { email: 'ann@x.io', platformCustomerId: '1' }
    await lab.pipeline.apply(lab.shop.live('seen', { platformCustomerId: '1' }))
    const [answer] = await lab.pipeline.apply(lab.shop.live('seen', identity))
    const survivor = (answer as TrackAnswer).contactId
    await drain()
    const [message] = await readCalls(sql(), businessId)
    expect(message).toMatchObject({ state: 'sent', contact_id: survivor, recipient: 'ann@x.io' })
  })

  it('gets it once, when the provider reports it before its answer is recorded, or while it is tried again', async () => {
    await mailTo(openScriptedServer({ RCPT: '451 4.2.1 later' }))
    const { message } = await send()
    await drain()
    const fact = {
      kind: 'report',
      messageId: message.messageId,
      providerMessageId: null,
      address: null,
      detail: null,
      report: { state: 'delivered', at: NOW },
    } as const
    await applyFacts({ sql: sql(), log: calls.deps.log }, { businessId, channel: 'email', sender: 'default' }, [fact], {
      receivedAt: NOW,
      isCurrent: true,
    })
    await drain(NOW + 86_400_000)
    expect(await states()).toEqual(['delivered'])
    expect(await due()).toEqual([])
  })
})

it('data and rendering are kept for MESSAGE_KEEP, and never forgotten before the message is sent', async () => {
  const { message } = await send()
  const forget = (now: number) => forgetValues({ sql: sql(), now: () => now, config: { messageKeepMs: 1000 } })
  await forget(NOW + 5000)
  await drain()
  const rendered = () => renderAgain(sql(), calls.deps.renderer, businessId, message.messageId)
  expect(await rendered()).toMatchObject({ subject: 'Code 4711' })
  await forget(NOW + 1000)
  expect(await rendered()).not.toBeNull()
  await forget(NOW + 1001)
  expect(await rendered()).toBeNull()
})
