/** Messages that stay in Postgres are sent in the transaction of their claim. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createSemaphore } from '../../src/async/semaphore.ts'
import { type ClaimedSend, claimDue } from '../../src/campaigns/engine/claim-due.ts'
import type { EngineDeps } from '../../src/campaigns/engine/engine-deps.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { sendInClaim } from '../../src/campaigns/engine/send-in-claim.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import {
  ANN,
  type Engine,
  HOUR,
  MINUTE,
  type Shop,
  openEngine,
  openShop,
  stopClock,
  useMailServer,
} from './engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
beforeAll(async () => {
  stack = await openStack()
  await stopClock(stack.sql, NOW)
  pipeline = await openPipeline(stack.sql)
  engine = openEngine(stack)
})
afterAll(async () => {
  await engine.close()
  await stack.close()
})
beforeEach(async () => {
  const { businessId } = await createBusiness(stack.sql)
  engine.clock.now = NOW
  shop = openShop(stack, engine, pipeline, businessId)
})

async function signUp(identity: object = ANN): Promise<string> {
  const [seen] = (await pipeline.apply(shop.live('seen', identity))) as [TrackAnswer]
  await shop.optIn(seen.contactId)
  await pipeline.apply(shop.live('signup', identity, engine.clock.now))
  return seen.contactId
}
const send = (id: string, template: string) => ({ id, type: 'send', channel: 'email', template })
/** The messages that are sent after the claim. */
const claim = async (deps: EngineDeps = engine.deps): Promise<ClaimedSend[]> =>
  (await claimDue(deps, 64, { sendInClaim })).sends

it('messages are stored with what became of them, and their enrolments go on', async () => {
  const template = await shop.template('email', 'Hello {{contact.email}}')
  await shop.publish([send('a', template), { id: 'w', type: 'wait', for: 'PT1H' }])
  const contactId = await signUp()
  expect(await claim()).toEqual([])
  const states = [
    { state: 'claimed', at: NOW },
    { state: 'sent', at: NOW },
  ]
  const [message] = await shop.messages()
  expect(message).toMatchObject({
    contact_id: contactId,
    state: 'sent',
    states,
    claimed_at: NOW,
    sent_at: NOW,
    provider: 'log',
    reason: null,
    detail: null,
    template_version: 1,
    recipient: 'ann@x.io',
    kept: true,
  })
  expect(JSON.parse(String(message!['values']))).toMatchObject({ contact: { email: 'ann@x.io' } })
  expect(message!['checked']).toMatchObject({ at: NOW, suppressed: false, consent: { subscribed: true } })
  expect(await shop.logged()).toMatchObject([{ recipient: 'ann@x.io', message: { text: 'Hello ann@x.io' } }])
  expect(await shop.due()).toMatchObject([{ step: 'w', due_at: NOW + HOUR, claim: null, settled: false }])
  expect(await shop.enrolments()).toEqual(['active'])
  engine.clock.now = NOW + HOUR
  await claim()
  expect(await shop.enrolments()).toEqual(['finished'])
  expect(await shop.due()).toEqual([])
})

it('an enrolment sends one in each claim, so that the next one is judged anew', async () => {
  const template = await shop.template()
  await shop.publish([send('a', template), send('b', template), send('c', template)])
  const contactId = await signUp()
  await claim()
  expect(await shop.states()).toEqual(['a sent'])
  await claim()
  await shop.optIn(contactId, 'email', false)
  await claim()
  expect(await shop.states()).toEqual(['a sent', 'b sent', 'c skipped no_opt_in'])
  expect(await shop.enrolments()).toEqual(['finished'])
})

it('one whose template fails is failed, and the others are sent', async () => {
  const bad = await shop.template('email', '{{contact.firstName | append: business.name}}')
  const good = await shop.template()
  await shop.publish([send('a', bad)])
  await shop.publish([send('b', good)])
  await stack.sql`delete from templates where id = ${bad}`
  await signUp()
  expect(await claim()).toEqual([])
  expect((await shop.states()).toSorted()).toEqual(['a failed template_failed', 'b sent'])
  expect(await shop.logged()).toHaveLength(1)
  expect(await shop.enrolments()).toEqual(['finished', 'finished'])
})

it('those that are not made in time are sent after it: nobody waits for a template with a contact locked', async () => {
  await shop.publish([send('a', await shop.template())])
  const contactId = await signUp()
  const rendering = createSemaphore(1)
  const busy = rendering.run(() => sleep(2000))
  const claiming = claim({ ...engine.deps, rendering, makeMs: 100 })
  const [late] = await claiming
  expect(late).toMatchObject({ contactId, attempts: 1, claimedAt: NOW })
  expect(await shop.states()).toEqual(['a claimed'])
  expect(await shop.logged()).toEqual([])
  await shop.optIn(contactId, 'sms')
  await busy
  await engine.send(late!)
  await claim()
  expect(await shop.states()).toEqual(['a sent'])
  expect(await shop.logged()).toHaveLength(1)
  expect(await shop.enrolments()).toEqual(['finished'])
})

it('an attempt that failed is tried again after its claim, not in one', async () => {
  await shop.publish([send('a', await shop.template())])
  await signUp()
  const [claimed] = await engine.claim()
  const { settle } = await import('../../src/campaigns/engine/settle.ts')
  await settle(engine.deps, claimed!, { outcome: { kind: 'temporary' }, provider: null, rendered: null })
  engine.clock.now = NOW + MINUTE
  const [again] = await claim()
  expect(again).toMatchObject({ messageId: claimed!.messageId, attempts: 2, claimedAt: NOW })
  await engine.send(again!)
  expect(await shop.states()).toEqual(['a sent'])
})

it('one that cannot be kept holds up nobody', async () => {
  await stack.sql`alter table logged_messages add constraint no_poison check (message->>'text' <> 'poison')`
  await shop.publish([send('a', await shop.template('email', 'poison'))])
  await shop.publish([send('b', await shop.template())])
  await signUp()
  const stop = new AbortController()
  const running = runCampaigns(engine.deps, stop.signal)
  await vi.waitUntil(async () => (await shop.states()).includes('b sent'), { timeout: PATIENCE_MS, interval: 20 })
  stop.abort()
  await running
  await stack.sql`alter table logged_messages drop constraint no_poison`
  expect((await shop.states()).toSorted()).toEqual(['a claimed', 'b sent'])
  engine.clock.now = NOW + MINUTE
  await claim()
  expect((await shop.states()).toSorted()).toEqual(['a unknown', 'b sent'])
})

it('a channel with another provider sends after the claim', async () => {
  await shop.publish([send('a', await shop.template())])
  await useMailServer(stack, engine.deps, shop.businessId, 9)
  await signUp()
  expect(await claim()).toHaveLength(1)
  expect(await shop.states()).toEqual(['a claimed'])
})

it('what a branch counted before the message is asked anew behind it', async () => {
  const template = await shop.template()
  await shop.publish([send('a', template)])
  await signUp()
  // As a branch has left it.
  await stack.sql`
    update due_steps set answers = ${JSON.stringify({ at: NOW, values: {} })}::text::jsonb where business_id = ${shop.businessId}`
  await claim()
  expect(await shop.states()).toEqual(['a sent'])
  expect(await shop.due()).toMatchObject([{ step: 'a', due_at: NOW, claim: null, settled: true }])
  await claim()
  expect(await shop.enrolments()).toEqual(['finished'])
  expect(await shop.states()).toEqual(['a sent'])
})
