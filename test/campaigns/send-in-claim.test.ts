/** Messages of the provider `log`, which stay in Postgres, are sent in the transaction of their claim. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { createSemaphores } from '../../src/async/semaphore.ts'
import { type ClaimedSend, claimDue } from '../../src/campaigns/engine/claim-due.ts'
import type { EngineDeps } from '../../src/campaigns/engine/engine-deps.ts'
import { ENGINE_SETTINGS } from '../../src/campaigns/engine/open-engine.ts'
import { runCampaigns } from '../../src/campaigns/engine/run-campaigns.ts'
import { sendInClaim } from '../../src/campaigns/engine/send-in-claim.ts'
import { MAX_LOGGED } from '../../src/messages/channels/logged-messages.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { NOW, type Pipeline } from '../support/facts.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { type Stack, createBusiness } from '../support/stack.ts'
import { ANN, type Engine, HOUR, MINUTE, type Shop, openShop, useMailServer } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let pipeline: Pipeline
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, pipeline, engine, shop } = lab))

async function signUp(identity: object = ANN): Promise<string> {
  const [seen] = (await pipeline.apply(shop.live('seen', identity))) as [TrackAnswer]
  await shop.optIn(seen.contactId)
  await pipeline.apply(shop.live('signup', identity, engine.clock.now))
  return seen.contactId
}
const send = (id: string, template: string) => ({ id, type: 'send', channel: 'email', template })
/** Returns the messages that are sent after the claim. */
const claim = async (deps: EngineDeps = engine.deps): Promise<ClaimedSend[]> =>
  (await claimDue(deps, 64, { sendInClaim })).sends

it('the claim of a process that stands still is undone, so that its contacts can be saved', async () => {
  await shop.publish([send('a', await shop.template('email', 'Hello'))])
  const contactId = await signUp()
  const sql = connectPostgres(stack.databaseUrl, { max: 2, settings: ENGINE_SETTINGS })
  try {
    const begun = Promise.withResolvers<void>()
    const standing = claimDue({ ...engine.deps, sql }, 64, {
      sendInClaim() {
        begun.resolve()
        return new Promise(() => undefined)
      },
    })
    const ended = standing.catch((error: unknown) => String(error))
    await begun.promise
    const locked = stack.sql`select from contacts where id = ${contactId} for update nowait`
    await expect(locked).rejects.toThrow('could not obtain lock')
    const began = performance.now()
    await pipeline.apply(shop.live('seen', ANN))
    expect(performance.now() - began).toBeLessThan(atLoad(5000))
    expect(await ended).toMatch(/idle-in-transaction|CONNECTION_CLOSED/)
  } finally {
    await sql.end({ timeout: 1 })
  }
  expect(await claim()).toEqual([])
  expect(await shop.logged()).toHaveLength(1)
})

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
  const rendering = createSemaphores(1)
  const busy = rendering.run(shop.businessId, () => sleep(2000))
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
  // As a branch leaves it.
  await stack.sql`
    update due_steps set answers = ${JSON.stringify({ at: NOW, values: {} })}::text::jsonb where business_id = ${shop.businessId}`
  await claim()
  expect(await shop.states()).toEqual(['a sent'])
  expect(await shop.due()).toMatchObject([{ step: 'a', due_at: NOW, claim: null, settled: true }])
  await claim()
  expect(await shop.enrolments()).toEqual(['finished'])
  expect(await shop.states()).toEqual(['a sent'])
})

/** Runs `work` while the messages of a claim are being made. */
const whileMaking = (work: () => Promise<unknown>): EngineDeps => ({
  ...engine.deps,
  rendering: {
    async run(_, render) {
      await work()
      return render()
    },
  },
})

async function useUnknownProvider(): Promise<void> {
  await useMailServer(stack, engine.deps, shop.businessId, 9)
  await stack.sql`update channels set provider = 'carrier_pigeon' where business_id = ${shop.businessId}`
}

it('a provider that this version does not know holds up the messages of its channel alone', async () => {
  await shop.publish([send('a', await shop.template())])
  await signUp()
  await useUnknownProvider()
  const other = shop
  shop = openShop(stack, engine, pipeline, (await createBusiness(stack.sql)).businessId)
  await shop.publish([send('b', await shop.template())])
  await signUp()
  const [left] = await claim()
  expect(left).toMatchObject({ businessId: other.businessId })
  expect(await shop.states()).toEqual(['b sent'])
  await expect(engine.send(left!)).rejects.toThrow('there is no provider carrier_pigeon')
})

it('a step begins, and an enrolment ends, no earlier than the message before it was sent', async () => {
  const template = await shop.template()
  await shop.publish([send('a', template), { id: 'w', type: 'wait_for', event: 'paid', timeout: 'PT1H', steps: [] }])
  await shop.publish([send('b', template)])
  const contactId = await signUp()
  await pipeline.apply(shop.live('paid', ANN, NOW + 1))
  await claim({ ...whileMaking(async () => (engine.clock.now = NOW + 50)), now: () => engine.clock.now++ })
  const sent = (await shop.messages()) as { step: string; claimed_at: number; sent_at: number }[]
  expect(sent).toHaveLength(2)
  const sentAt = sent[0]!.sent_at
  expect(sentAt).toBeGreaterThanOrEqual(NOW + 50)
  for (const message of sent) {
    expect(message.sent_at).toBe(sentAt)
    expect(message.claimed_at).toBeLessThan(NOW + 50)
  }
  // An event before the message does not end the wait.
  expect(await shop.due()).toMatchObject([{ step: 'w', due_at: sentAt + HOUR }])
  const ended = await stack.sql`
    select ended_at from enrolments where business_id = ${shop.businessId} and contact_id = ${contactId} and state = 'finished'`
  expect(ended).toEqual([{ ended_at: sentAt }])
})

it('a provider that is chosen while the messages are made sends them', async () => {
  await shop.publish([send('a', await shop.template())])
  await signUp()
  const [left] = await claim(whileMaking(() => useMailServer(stack, engine.deps, shop.businessId, 9)))
  expect(left).toMatchObject({ businessId: shop.businessId })
  expect(await shop.states()).toEqual(['a claimed'])
  expect(await shop.logged()).toEqual([])
  await engine.send(left!)
  // No server listens at that address.
  expect(await shop.messages()).toMatchObject([{ state: 'claimed', provider: 'smtp' }])
})

it('a channel with a limit sends after the claim: others wait for its use', async () => {
  await shop.publish([send('a', await shop.template())])
  await signUp()
  await useMailServer(stack, engine.deps, shop.businessId, 9)
  await stack.sql`update channels set provider = 'log', per_second = 5 where business_id = ${shop.businessId}`
  const [left] = await claim()
  await engine.send(left!)
  expect(await shop.states()).toEqual(['a sent'])
  expect(await shop.logged()).toHaveLength(1)
})

it('an enrolment that cannot go on behind its message holds up nobody', async () => {
  const template = await shop.template()
  const campaignId = await shop.publish([send('a', template), { id: 'w', type: 'wait', for: 'PT1H' }])
  await shop.publish([send('b', template)])
  await stack.sql`
    update campaign_versions set definition = jsonb_set(definition, '{steps,1,for}', '"for ever"') where campaign_id = ${campaignId}`
  await signUp()
  expect(await claim()).toEqual([])
  expect((await shop.states()).toSorted()).toEqual(['a sent', 'b sent'])
  expect(await shop.due()).toMatchObject([{ step: 'a', due_at: NOW, settled: true }])
  await claim()
  expect(await shop.due()).toMatchObject([{ step: 'a', due_at: NOW + MINUTE, settled: true }])
  expect(await shop.states()).toHaveLength(2)
})

it('a message that was not made in time is made once, and later claims do not wait for its business', async () => {
  await shop.publish([send('a', await shop.template())])
  await signUp()
  // The states that other sessions see when messages are being made: those of a claim are visible only after it ends.
  const seen: string[][] = []
  const slow = whileMaking(async () => {
    seen.push(await shop.states())
    await sleep(500)
  })
  const stop = new AbortController()
  const running = runCampaigns({ ...slow, makeMs: 100 }, stop.signal)
  const areSent = (many: number) =>
    vi.waitUntil(async () => (await shop.states()).filter((state) => state.endsWith(' sent')).length === many, {
      timeout: PATIENCE_MS,
      interval: 20,
    })
  await areSent(1)
  expect(seen).toEqual([[]])
  await signUp({ email: 'bob@x.io' })
  await areSent(2)
  stop.abort()
  await running
  expect(seen).toEqual([[], ['a sent', 'a claimed']])
  expect(await shop.logged()).toHaveLength(2)
})

it('what is beyond the limit of a channel is deleted, at the latest when the worker stops', async () => {
  await stack.sql`
    insert into logged_messages (business_id, channel, id, recipient, message)
    select ${shop.businessId}, 'email', ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'old@x.io', '{}'
    from generate_series(1, ${MAX_LOGGED + 5}) n`
  await shop.publish([send('a', await shop.template())])
  await signUp()
  const stop = new AbortController()
  const running = runCampaigns(engine.deps, stop.signal)
  await vi.waitUntil(async () => (await shop.states()).includes('a sent'), { timeout: PATIENCE_MS, interval: 5 })
  stop.abort()
  await running
  const kept = await shop.logged()
  expect(kept).toHaveLength(MAX_LOGGED)
  expect(kept.at(-1)).toMatchObject({ recipient: 'ann@x.io' })
})

it('claims go on while what is beyond the limit of a channel cannot be deleted', async () => {
  await stack.sql.unsafe(`
    create function refuse_deletion() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
    create trigger refuse_deletion before delete on logged_messages execute function refuse_deletion()`)
  await shop.publish([send('a', await shop.template())])
  const stop = new AbortController()
  const warned = vi.spyOn(engine.deps.log, 'warn')
  const running = runCampaigns(engine.deps, stop.signal)
  for (const [many, email] of ['ann@x.io', 'bob@x.io'].entries()) {
    await signUp({ email })
    const areSent = async () => (await shop.states()).filter((state) => state === 'a sent').length === many + 1
    await vi.waitUntil(areSent, { timeout: PATIENCE_MS, interval: 20 })
  }
  stop.abort()
  await running
  const words = warned.mock.calls.map((call) => String(call.at(-1)))
  warned.mockRestore()
  await stack.sql`drop function refuse_deletion cascade`
  expect(new Set(words)).toEqual(new Set(['messages beyond the limit of a channel were not deleted, trying again']))
})
