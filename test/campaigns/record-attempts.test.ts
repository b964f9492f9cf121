/** The outcomes of messages that are in flight together are recorded together. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { ClaimedSend } from '../../src/campaigns/engine/claim/claim-due.ts'
import { sendMessage } from '../../src/campaigns/engine/send/send-message.ts'
import type { Attempt } from '../../src/campaigns/engine/send/attempt.ts'
import { type AttemptRecord, recordAttempts } from '../../src/campaigns/engine/settle/record-attempts.ts'
import { settle } from '../../src/campaigns/engine/settle/settle.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { inTransaction } from '../../src/stores/transaction.ts'
import { NOW } from '../support/facts.ts'
import { fillDue } from '../support/fill-due.ts'
import type { Stack } from '../support/stack.ts'
import type { Engine, Shop } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, engine, shop } = lab))
beforeEach(async () => {
  await stack.sql`delete from due_steps`
})

/** Returns the claimed messages in the order of the contacts' ids. */
async function claim(many: number): Promise<ClaimedSend[]> {
  const { businessId } = shop
  const campaignId = await shop.publish([{ id: 'a', type: 'send', channel: 'email', template: await shop.template() }])
  await fillDue(stack.sql, { businessId, campaignId, step: 'a', many, dueAt: NOW })
  const claimed = await engine.claim(many)
  expect(claimed).toHaveLength(many)
  return claimed
}

const VALUES = { contact: { firstName: 'Ann' } } as unknown as NonNullable<Attempt['rendered']>['values']
const attempt = (outcome: Attempt['outcome']): Attempt => ({
  outcome,
  provider: 'log',
  from: null,
  rendered: { version: 1, values: VALUES },
})
const messageOf = async ({ messageId }: ClaimedSend) => {
  const [row] = await stack.sql<Record<string, unknown>[]>`
    select m.state, m.reason, m.detail, m.sent_at, m.provider_message_id, m."values", m.states, m.template_version,
      d.claim, d.settled, d.message_id, d.due_at, d.attempts
    from messages m join due_steps d on d.enrolment_id = m.enrolment_id where m.id = ${messageId}`
  return row
}

it('each as it was', async () => {
  const [sent, refused, unknown, later] = (await claim(4)) as [ClaimedSend, ClaimedSend, ClaimedSend, ClaimedSend]
  const all: [ClaimedSend, Attempt['outcome']][] = [
    [sent, { kind: 'accepted', providerMessageId: 'id-1' }],
    [refused, { kind: 'refused', reason: '550 no' }],
    [unknown, { kind: 'unknown' }],
    [later, { kind: 'temporary', reason: '451 later' }],
  ]
  const settled = await Promise.all(all.map(([one, outcome]) => settle(engine.deps, one, attempt(outcome))))
  expect(settled.map(({ state }) => state)).toEqual(['sent', 'failed', 'unknown', 'retry'])
  const goesOn = { claim: null, settled: true, message_id: null, due_at: NOW, attempts: 0 }
  const kept = { values: JSON.stringify(VALUES), template_version: 1 }
  expect(await messageOf(sent)).toMatchObject({
    ...goesOn,
    ...kept,
    state: 'sent',
    sent_at: NOW,
    provider_message_id: 'id-1',
    states: [
      { state: 'claimed', at: NOW },
      { state: 'sent', at: NOW },
    ],
  })
  expect(await messageOf(refused)).toMatchObject({
    ...goesOn,
    state: 'failed',
    reason: 'provider_refused',
    detail: '550 no',
    sent_at: null,
  })
  expect(await messageOf(unknown)).toMatchObject({ ...goesOn, state: 'unknown' })
  const waiting = await messageOf(later)
  expect(waiting).toMatchObject({
    state: 'claimed',
    claim: null,
    settled: false,
    message_id: later.messageId,
    attempts: 1,
  })
  expect(waiting?.['due_at']).toBeGreaterThan(NOW)
  expect(waiting?.['states']).toHaveLength(1)
})

it('and what others hold is waited for alone', async () => {
  const [free, held] = (await claim(2)) as [ClaimedSend, ClaimedSend]
  const locked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holding = stack.sql.begin(async (tx) => {
    await tx`select from messages where id = ${held.messageId} for update`
    locked.resolve()
    await released.promise
  })
  await locked.promise
  const settling = settle(engine.deps, held, attempt({ kind: 'accepted' }))
  await settle(engine.deps, free, attempt({ kind: 'accepted' }))
  expect(await messageOf(free)).toMatchObject({ state: 'sent', settled: true })
  expect(await messageOf(held)).toMatchObject({ state: 'claimed', settled: false, claim: held.claim })
  released.resolve()
  await holding
  await settling
  expect(await messageOf(held)).toMatchObject({ state: 'sent', settled: true, claim: null })
})

it('without waiting for a message that cannot be made', async () => {
  const [broken] = (await claim(1)) as [ClaimedSend]
  await stack.sql`alter table template_versions rename to lost_versions`
  let arrived = 0
  const arrive = async () => void (arrived += 1)
  try {
    await expect(sendMessage(engine.deps, broken, AbortSignal.timeout(20_000), arrive)).rejects.toThrow(
      'template_versions',
    )
  } finally {
    await stack.sql`alter table lost_versions rename to template_versions`
  }
  expect(arrived).toBe(1)
})

describe('a refusal of an address', () => {
  const REFUSED = attempt({ kind: 'refused', reason: '550 5.1.1 no such mailbox', blame: 'hard_bounce' })
  const suppressions = () => stack.sql`select from suppressions where business_id = ${shop.businessId}`
  /** Makes the next `times` suppressions fail. */
  const breakSuppressions = async (times: number) => {
    await stack.sql.unsafe(`
      create sequence broken_suppressions;
      create function break_suppression() returns trigger language plpgsql as $$ begin
        if nextval('broken_suppressions') <= ${times} then raise exception 'broken'; end if;
        return new;
      end $$;
      create trigger break_suppressions before insert on suppressions for each row execute function break_suppression()`)
    return () =>
      stack.sql.unsafe(`
        drop trigger break_suppressions on suppressions; drop function break_suppression; drop sequence broken_suppressions`)
  }

  it('is recorded together with its suppression, also when that fails at first', async () => {
    const [refused] = (await claim(1)) as [ClaimedSend]
    const mend = await breakSuppressions(2)
    await settle(engine.deps, refused, REFUSED)
    await mend()
    expect(await messageOf(refused)).toMatchObject({
      state: 'bounced',
      reason: 'provider_refused',
      detail: '550 5.1.1 no such mailbox',
      sent_at: null,
      settled: true,
    })
    expect(await suppressions()).toHaveLength(1)
  })

  it('is recorded later, when the claim has expired meanwhile', async () => {
    const [refused] = (await claim(1)) as [ClaimedSend]
    const mend = await breakSuppressions(2)
    const settling = settle(engine.deps, refused, REFUSED)
    engine.clock.now += engine.deps.leaseMs
    await engine.drain()
    engine.clock.now = NOW
    await settling
    await mend()
    const [message] = (await shop.messages()) as { state: string }[]
    expect([message?.state, (await suppressions()).length]).toEqual(['bounced', 1])
  })

  it('is not recorded without it', async () => {
    const [refused] = (await claim(1)) as [ClaimedSend]
    const mend = await breakSuppressions(1000)
    await expect(settle(engine.deps, refused, REFUSED)).rejects.toThrow('broken')
    expect(await messageOf(refused)).toMatchObject({ state: 'claimed', claim: refused.claim })
    expect(await suppressions()).toHaveLength(0)
    await mend()
  })
})

it('and nothing of a worker whose claim has expired moves the enrolment', async () => {
  const [late] = (await claim(1)) as [ClaimedSend]
  await stack.sql`update due_steps set claim = gen_random_uuid() where enrolment_id = ${late.enrolmentId}`
  await settle(engine.deps, late, attempt({ kind: 'accepted' }))
  expect(await messageOf(late)).toMatchObject({ state: 'sent', settled: false, message_id: late.messageId })
})

it('a message that another transaction changes before it is locked keeps its claim, and is recorded by itself', async () => {
  const [one] = (await claim(1)) as [ClaimedSend]
  const { businessId, enrolmentId, messageId } = one
  const record: AttemptRecord = {
    businessId,
    enrolmentId,
    messageId,
    channel: 'email',
    sender: 'default',
    wasUnreachable: false,
    boundTo: null,
    sentFrom: null,
    claim: one.claim,
    isFinal: true,
    state: 'sent',
    reason: null,
    judged: 'other',
    reported: null,
    at: NOW,
    dueAt: NOW,
    detail: null,
    provider: 'smtp',
    providerMessageId: null,
    templateVersion: 1,
    values: null,
  }
  // Holds the statement up between its snapshot and its locks.
  await stack.sql`create schema slow`
  await stack.sql.unsafe(`
    create function slow.json_to_recordset(sent json) returns setof record language plpgsql as $$
    begin
      perform pg_advisory_lock_shared(7), pg_advisory_unlock_shared(7);
      return query select * from pg_catalog.json_to_recordset(sent) as x (place integer, business_id uuid, enrolment_id uuid,
        message_id uuid, channel text, sender text, bound_to text, sent_from text, claim uuid, is_final boolean, state text, reason text,
        judged text, reported text, at bigint, due_at bigint, detail text, provider text, provider_message_id text, template_version integer, "values" text);
    end $$`)
  const holder = connectPostgres(stack.databaseUrl, { max: 1 })
  await holder`select pg_advisory_lock(7)`
  const recording = inTransaction(stack.sql, async (tx) => {
    await tx`set local search_path = slow, pg_catalog, public`
    return recordAttempts(tx, [record])
  })
  await expect
    .poll(async () => (await stack.sql`select from pg_locks where locktype = 'advisory' and not granted`).length)
    .toBe(1)
  await stack.sql`update messages set opened = true where id = ${one.messageId}`
  await holder.end()
  expect(await recording).toEqual([false])
  expect(await messageOf(one)).toMatchObject({ state: 'claimed', claim: one.claim, settled: false })
  await settle(engine.deps, one, attempt({ kind: 'accepted' }))
  expect(await messageOf(one)).toMatchObject({ state: 'sent', claim: null, settled: true })
})
