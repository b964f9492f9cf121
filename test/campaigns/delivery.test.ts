/** The states of a message between its claim and its end: it is sent at most once, whatever happens. */
import { afterEach, describe, expect, it } from 'vitest'
import { pino } from 'pino'
import { stateAfterAttempt, GIVE_UP_MS } from '../../src/campaigns/engine/settle/settle.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { readCampaign } from '../../src/campaigns/list-campaigns.ts'
import { readReport } from '../../src/campaigns/read-report.ts'
import { liftSuppressions } from '../../src/messages/suppressions/lift.ts'
import { changeStatus } from '../../src/campaigns/change-status.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { readToken } from '../../src/messages/unsubscribe/token.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { type MailServer, openMailServer, openScriptedServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { NOW, type Pipeline } from '../support/facts.ts'
import type { Stack } from '../support/stack.ts'
import { ACTOR, ANN, DAY, type Engine, HOUR, type Shop, openEngine, useMailServer } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const send = (id: string, template: string) => ({ id, type: 'send', channel: 'email', template })

async function signUp(identity: object = ANN): Promise<string> {
  const { contactId } = (await pipeline.apply(shop.live('seen', identity)))[0] as TrackAnswer
  await shop.optIn(contactId)
  await pipeline.apply(shop.live('signup', identity, engine.clock.now))
  return contactId
}

async function mailTo(server: Promise<{ port: number; close(): Promise<void> }>) {
  const opened = await server
  closing.push(() => opened.close())
  await useMailServer(stack, engine.deps, shop.businessId, opened.port)
}

const scripted = (script: Parameters<typeof openScriptedServer>[0]) => mailTo(openScriptedServer(script))

describe('by mail', () => {
  it('it arrives once, with the id of the message', async () => {
    const server: MailServer = await openMailServer()
    await mailTo(Promise.resolve(server))
    await shop.publish([send('a', await shop.template())])
    const contactId = await signUp()
    await engine.drain()
    const [message] = await shop.messages()
    expect(message).toMatchObject({ state: 'sent', provider: 'smtp', recipient: ANN.email })
    expect(server.heard.map(({ to }) => to)).toEqual([[ANN.email]])
    const raw = server.heard[0]?.raw.replaceAll(/\r\n[ \t]+/g, ' ') ?? ''
    expect(raw).toContain(`Message-ID: <${String(message!['id'])}@shop.example>`)
    // The link in the mail works; the link in the stored copy does not.
    const [, token = ''] = /List-Unsubscribe: <https:\/\/shop\.example\/u\/([^>]+)>/.exec(raw) ?? []
    const key = await loadMessageKey(stack.sql)
    expect(readToken(key, token)).toEqual({ businessId: shop.businessId, contactId, channel: 'email' })
    expect(JSON.parse(message!['values'] as string)).toMatchObject({
      unsubscribeUrl: 'https://shop.example/u/preview',
    })
  })

  it('what was surely not taken keeps its claim, and is tried again within 30 s', async () => {
    await scripted({ RCPT: '451 4.2.1 later' })
    await shop.publish([send('a', await shop.template())])
    await signUp()
    await engine.drain()
    expect(await shop.states()).toEqual(['a claimed'])
    const [due] = await shop.due()
    expect(due).toMatchObject({ step: 'a', claim: null })
    expect(due!.due_at).toBeGreaterThan(NOW)
    expect(due!.due_at).toBeLessThanOrEqual(NOW + 30_000)
    const server = await openMailServer()
    await mailTo(Promise.resolve(server))
    await engine.drain(due!.due_at)
    expect(await shop.states()).toEqual(['a sent'])
    expect(server.heard).toHaveLength(1)
    expect(await shop.enrolments()).toEqual(['finished'])
  })

  it('it is given up after 24 hours, and the enrolment goes on', async () => {
    await scripted({ RCPT: '451 4.2.1 later' })
    const hook = await shop.template('webhook', '{}')
    await shop.publish([send('a', await shop.template()), { ...send('b', hook), channel: 'webhook' }], {
      quietHours: null,
    })
    await signUp()
    await engine.drain()
    await engine.drain(NOW + DAY)
    expect(await shop.states()).toEqual(['a failed gave_up', 'b sent'])
    const [message] = await shop.messages()
    expect(message).toMatchObject({ detail: '451 4.2.1 later' })
  })

  it('before another attempt everything is looked at anew', async () => {
    await scripted({ RCPT: '451 4.2.1 later' })
    await shop.publish([send('a', await shop.template())], { goal: 'paid' })
    const contactId = await signUp()
    await signUp({ email: 'bob@x.io' })
    await engine.drain()
    await shop.optIn(contactId, 'email', false)
    await pipeline.apply(shop.live('paid', { email: 'bob@x.io' }))
    await engine.drain(NOW + 30_000)
    expect((await shop.states()).toSorted()).toEqual(['a skipped ended', 'a skipped no_opt_in'])
    expect(await shop.due()).toEqual([])
  })

  it.each([
    ['a refusal for good', { RCPT: '550 5.7.1 not from you' }, 'a failed provider_refused'],
    ['an address that does not exist', { RCPT: '550 5.1.1 no such user' }, 'a bounced provider_refused'],
    ['silence after the message', { message: 'say nothing' as const }, 'a unknown'],
  ])('%s is final', async (_, script, state) => {
    await scripted(script)
    await shop.publish([send('a', await shop.template())])
    await signUp()
    engine.deps.attemptMs = 500
    const [claimed] = await engine.claim()
    const attempt = await import('../../src/campaigns/engine/send/send-message.ts')
    const { settle } = await import('../../src/campaigns/engine/settle/settle.ts')
    await settle(engine.deps, claimed!, await attempt.sendMessage(engine.deps, claimed!, AbortSignal.timeout(1500)))
    engine.deps.attemptMs = 20_000
    await engine.drain(NOW + DAY)
    expect(await shop.states()).toEqual([state])
    expect(await shop.enrolments()).toEqual(['finished'])
  })
})

it('a message that bounced at its hand-over counts for caps, and in the report as bounced', async () => {
  await scripted({ RCPT: '550 5.1.1 no such user' })
  const caps = [{ channel: 'email', atMost: 1, days: 1, whenReached: 'skip' }]
  const [first, second] = [send('a', await shop.template()), send('b', await shop.template())]
  const campaignId = await shop.publish([first, { id: 'w', type: 'wait', for: 'PT1M' }, second], { caps })
  await signUp()
  await engine.drain()
  expect(await shop.states()).toEqual(['a bounced provider_refused'])
  const { businessId } = shop
  const lifted = { reason: 'hard_bounce', channel: null, from: null, to: null } as const
  await liftSuppressions(stack.sql, { businessId, actor: ACTOR }, lifted)
  await engine.drain(NOW + 60_000)
  expect(await shop.states()).toEqual(['a bounced provider_refused', 'b skipped cap'])
  const campaign = await readCampaign(stack.sql, businessId, campaignId)
  const report = await readReport(stack, { id: businessId, timezone: 'UTC' }, campaign!, { from: null, to: null })
  expect(report.steps).toMatchObject([
    { stepId: 'a', entered: 1, bounced: 1, failed: 0, sent: 0, skipped: {} },
    { stepId: 'b', entered: 1, bounced: 0, failed: 0, sent: 0, skipped: { cap: 1 } },
  ])
})

describe('after a worker has died', () => {
  it('a message that it had claimed is unknown, is never sent again, and the enrolment goes on', async () => {
    await shop.publish([send('a', await shop.template()), send('b', await shop.template())])
    await signUp()
    expect(await engine.claim()).toHaveLength(1)
    await engine.drain(NOW + 59_999)
    expect(await shop.states()).toEqual(['a claimed'])
    await engine.drain(NOW + 60_000)
    expect(await shop.states()).toEqual(['a unknown', 'b sent'])
    expect(await shop.logged()).toHaveLength(1)
  })

  it('its message counts for the cap of the next step', async () => {
    const caps = [{ channel: 'email', atMost: 1, days: 1 }]
    await shop.publish([send('a', await shop.template()), send('b', await shop.template())], { caps })
    await signUp()
    expect(await engine.claim()).toHaveLength(1)
    await engine.drain(NOW + 60_000)
    expect(await shop.states()).toEqual(['a unknown'])
    await engine.drain(NOW + DAY)
    expect(await shop.states()).toEqual(['a unknown', 'b sent'])
  })

  it('one that comes back late says what it knows, and the enrolment does not go on twice', async () => {
    await shop.publish([send('a', await shop.template()), send('b', await shop.template())])
    await signUp()
    const [claimed] = await engine.claim()
    await engine.drain(NOW + 60_000)
    await engine.send(claimed!)
    await engine.drain()
    expect(await shop.states()).toEqual(['a sent', 'b sent'])
    expect(await shop.enrolments()).toEqual(['finished'])
  })

  it('also when its enrolment has ended, or its campaign is paused', async () => {
    const id = await shop.publish([send('a', await shop.template())], { goal: 'paid' })
    await signUp()
    await signUp({ email: 'bob@x.io' })
    expect(await engine.claim()).toHaveLength(2)
    await pipeline.apply(shop.live('paid'))
    await changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, id, 'pause')
    await engine.drain(NOW + 60_000)
    expect(await shop.states()).toEqual(['a unknown', 'a unknown'])
    expect(await shop.due()).toMatchObject([{ step: 'a', held: true, settled: true }])
    await changeStatus(stack.sql, { businessId: shop.businessId, actor: ACTOR }, id, 'resume')
    await engine.drain()
    expect((await shop.enrolments()).toSorted()).toEqual(['converted', 'finished'])
    expect(await shop.logged()).toEqual([])
  })
})

describe('an erasure', () => {
  it('while a message is under way leaves a message that counts, and nothing of the person', async () => {
    await shop.publish([send('a', await shop.template())])
    const contactId = await signUp()
    const [claimed] = await engine.claim()
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    await engine.send(claimed!)
    const [message] = await shop.messages()
    expect(message).toMatchObject({ contact_id: null, recipient: null, values: null, checked: null, detail: null })
    expect(message!['state']).toBe('failed')
    expect(await shop.logged()).toEqual([])
  })

  it('before another attempt skips the message, with a reason', async () => {
    await scripted({ RCPT: '451 4.2.1 later' })
    await shop.publish([send('a', await shop.template())])
    const contactId = await signUp()
    await engine.drain()
    await pipeline.apply({ kind: 'erase', businessId: shop.businessId, receivedAt: NOW, contactId })
    expect(await shop.states()).toEqual(['a skipped ended'])
  })
})

describe('two workers', () => {
  it('send each message once', { timeout: PATIENCE_MS }, async () => {
    const template = await shop.template()
    await shop.publish([send('a', template), send('b', template)], { quietHours: null })
    for (let n = 0; n < 40; n += 1) await signUp({ email: `p${n}@x.io` })
    const stop = new AbortController()
    const other = openEngine(stack)
    closing.push(() => other.close())
    const working = [engine, other].map(({ deps }) =>
      runCampaigns({ ...deps, log: pino({ level: 'silent' }) }, stop.signal),
    )
    await expect
      .poll(() => shop.enrolments(), { timeout: PATIENCE_MS })
      .toEqual(Array.from({ length: 40 }, () => 'finished'))
    stop.abort()
    await Promise.all(working)
    expect(await shop.logged()).toHaveLength(80)
    expect(new Set(await shop.states())).toEqual(new Set(['a sent', 'b sent']))
  })
})

describe('the outcome of an attempt', () => {
  it('is a retry until 24 hours after the first claim', () => {
    const judged = (now: number) =>
      stateAfterAttempt({ outcome: { kind: 'temporary' } }, { attempts: 1, claimedAt: NOW }, now)
    expect(judged(NOW)).toMatchObject({ state: 'retry' })
    expect(judged(NOW + HOUR)).toMatchObject({ state: 'retry' })
    expect(judged(NOW + GIVE_UP_MS - 1)).toEqual({ state: 'failed', reason: 'gave_up' })
  })
})
