/** Lives a random life on the engine and in the reference model at once, and compares them after every action. */
import { expect } from 'vitest'
import { changeStatus } from '../../../src/campaigns/change-status.ts'
import type { ClaimedSend } from '../../../src/campaigns/engine/claim-due.ts'
import { endArchived } from '../../../src/campaigns/engine/end-archived.ts'
import { type Attempt, sendMessage } from '../../../src/campaigns/engine/send-message.ts'
import { settle } from '../../../src/campaigns/engine/settle.ts'
import { updateCampaign } from '../../../src/campaigns/update-campaign.ts'
import { loadMessageKey } from '../../../src/messages/message-key.ts'
import { liftSuppressions } from '../../../src/messages/suppressions/lift.ts'
import { suppress } from '../../../src/messages/suppressions/suppress.ts'
import { NOW, type Pipeline, batch, eventFact, openPipeline } from '../../support/facts.ts'
import { type Stack, createBusiness } from '../../support/stack.ts'
import { ACTOR, type Engine, type Shop, openEngine, openShop } from '../engine-lab.ts'
import { type Action, type Life, PEOPLE } from './life.ts'
import { expectedOf, lookAt, namesOf } from './look.ts'
import { nameSteps, sentQuiet, sentSteps } from './plan.ts'
import { type Hand, type Outcome, Reference } from './reference.ts'

export interface World {
  stack: Stack
  pipeline: Pipeline
  engines: [Engine, Engine]
}

export async function openWorld(stack: Stack): Promise<World> {
  const pipeline = await openPipeline(stack.sql)
  return { stack, pipeline, engines: [openEngine(stack), openEngine(stack)] }
}

/** What a worker has in hand, here and there. */
interface InHand {
  claimed: ClaimedSend
  hand: Hand
}

/** One life. */
interface Course extends World {
  shop: Shop
  template: string
  campaignIds: string[]
  /** By person. Undefined: not known now. */
  contactIds: (string | undefined)[]
  /** Those of erased contacts too. */
  people: Map<string, number>
  model: Reference
  inHand: InHand[]
}

export async function live(world: World, { plans, optedIn, actions }: Life): Promise<void> {
  const course = await begin(world, plans)
  const { sql } = world.stack
  try {
    for (let who = 0; who < PEOPLE; who += 1) {
      await act(course, { kind: 'event', who, event: 'seen', back: 0, isLive: true })
      if (optedIn[who] === true) await act(course, { kind: 'consent', who, isGiven: true })
    }
    for (const [n, action] of actions.entries()) {
      await act(course, action)
      await expectSame(course, `action ${n}: ${JSON.stringify(action)}`)
    }
    await finish(course)
  } finally {
    // The engines of the next life are to find nothing of this one.
    await sql`delete from due_steps where business_id = ${course.shop.businessId}`
  }
}

async function begin(world: World, plans: Life['plans']): Promise<Course> {
  const { stack, engines, pipeline } = world
  moveClock(world, NOW)
  const { businessId } = await createBusiness(stack.sql)
  const shop = openShop(stack, engines[0], pipeline, businessId)
  const model = new Reference(NOW, PEOPLE, plans)
  const template = await shop.template()
  const campaignIds: string[] = []
  for (const { plan, versions } of model.campaigns) {
    const { trigger, goal, canEnterAgain, quiet } = plan
    const more = { trigger, canEnterAgain, quietHours: sentQuiet(quiet), ...(goal !== null && { goal }) }
    campaignIds.push(await shop.publish(sentSteps(versions[0]!.steps, template), more))
  }
  return { ...world, shop, template, campaignIds, contactIds: [], people: new Map(), model, inHand: [] }
}

function moveClock({ engines }: Pick<World, 'engines'>, now: number): void {
  for (const { clock } of engines) clock.now = now
}

async function expectSame(course: Course, when: string): Promise<void> {
  const { enrolments, messages } = await look(course)
  expect({ enrolments, messages }, `${when}, at ${course.model.now}`).toEqual(expectedOf(course.model))
}

const look = ({ stack, shop, people, campaignIds }: Course) =>
  lookAt(stack.sql, shop.businessId, { people, campaigns: campaignIds })

const addressOf = (who: number): string => `p${who}@x.io`

async function act(course: Course, action: Action): Promise<void> {
  const { stack, shop, pipeline, model, contactIds, campaignIds } = course
  const { sql } = stack
  const { businessId } = shop
  switch (action.kind) {
    case 'event':
      return await record(course, action)
    case 'consent': {
      const contactId = contactIds[action.who]
      if (contactId === undefined) return
      await shop.optIn(contactId, 'email', action.isGiven)
      model.people[action.who]!.hasOptIn = action.isGiven
      return
    }
    case 'suppress': {
      const key = await loadMessageKey(sql)
      const items = [{ channel: 'email' as const, address: addressOf(action.who), reason: 'hard_bounce' as const }]
      await sql.begin((tx) => suppress(tx, key, { businessId, now: model.now }, items))
      model.people[action.who]!.isSuppressed = true
      return
    }
    case 'lift':
      await liftSuppressions(
        sql,
        { businessId, actor: ACTOR },
        { reason: 'hard_bounce', channel: null, from: null, to: null },
      )
      for (const person of model.people) person.isSuppressed = false
      return
    case 'erase': {
      const contactId = contactIds[action.who]
      if (contactId === undefined) return
      await pipeline.apply({ kind: 'erase', businessId, receivedAt: model.now, contactId })
      contactIds[action.who] = undefined
      model.erase(action.who)
      return
    }
    case 'status': {
      const which = action.which % campaignIds.length
      const change = ({ published: 'resume', paused: 'pause', archived: 'archive' } as const)[action.status]
      const { kind } = await sql.begin((tx) => changeStatus(tx, businessId, campaignIds[which]!, change))
      expect(kind === 'changed').toBe(model.setStatus(which, action.status))
      while (await endArchived(course.engines[0].deps));
      return
    }
    case 'edit':
      return await edit(course, action)
    case 'clock':
      return moveOn(course, action)
    case 'claim':
      return await claim(course)
    case 'settle':
      return await settleOne(course, action)
    case 'die':
      course.inHand.splice(action.which % Math.max(1, course.inHand.length), 1)
      return
    case 'work':
      return await work(course, action.engines)
  }
}

async function record(
  { stack, shop, pipeline, model, contactIds, people }: Course,
  { who, event, back, isLive }: Extract<Action, { kind: 'event' }>,
): Promise<void> {
  const at = model.now - back
  const email = addressOf(who)
  const sent = { ...batch(shop.businessId, [eventFact(event, { email }, { occurredAt: at })]), receivedAt: model.now }
  await pipeline.apply(isLive ? shop.live(event, { email }, at) : sent)
  model.record(who, event, at, isLive)
  if (contactIds[who] !== undefined) return
  const [row] = await stack.sql<[{ contact_id: string }]>`
    select contact_id from identities where business_id = ${shop.businessId} and kind = 'email' and value = ${email}`
  contactIds[who] = row.contact_id
  people.set(row.contact_id, who)
}

async function edit(
  { stack, shop, template, campaignIds, model }: Course,
  { which, sketch }: Extract<Action, { kind: 'edit' }>,
): Promise<void> {
  const campaign = model.campaigns[which % campaignIds.length]!
  const { versions, status, plan } = campaign
  const steps = nameSteps(sketch, versions.length + 1)
  const change = { definition: { steps: sentSteps(steps, template) } }
  const id = campaignIds[which % campaignIds.length]!
  const { kind } = await stack.sql.begin((tx) => updateCampaign(tx, shop.businessId, id, change, undefined))
  expect(kind).toBe(status === 'archived' ? 'locked' : 'updated')
  if (status !== 'archived') versions.push({ steps, quiet: plan.quiet })
}

function moveOn({ engines, model }: Course, { ms, near }: Extract<Action, { kind: 'clock' }>): void {
  const instants = model.enrolments.flatMap(({ row }) => (row && !row.isHeld ? [row.nextAt] : []))
  const chosen = near === null ? undefined : instants[near.which % Math.max(1, instants.length)]
  model.now = chosen === undefined ? model.now + ms : Math.max(model.now, chosen + near!.more)
  moveClock({ engines }, model.now)
}

async function claim(course: Course): Promise<void> {
  const { engines, model, inHand } = course
  const claimed = await engines[0].claim()
  const { hands } = model.claim()
  const { names } = await look(course)
  const expected = namesOf(model)
  const found = new Map(claimed.map((one) => [`${names.get(one.enrolmentId)} ${one.step.id}`, one]))
  const wanted = new Map(hands.map((one) => [`${expected.get(one.enrolment)} ${one.message.step}`, one]))
  expect([...found.keys()].toSorted()).toEqual([...wanted.keys()].toSorted())
  for (const [name, hand] of wanted) inHand.push({ claimed: found.get(name)!, hand })
}

async function settleOne(
  { engines: [{ deps }], model, inHand }: Course,
  { which, outcome, isTwice }: Extract<Action, { kind: 'settle' }>,
): Promise<void> {
  const [one] = inHand.splice(which % Math.max(1, inHand.length), 1)
  if (one === undefined) return
  const { claimed, hand } = one
  const attempt: Attempt =
    outcome === 'accepted'
      ? await sendMessage(deps, claimed, AbortSignal.timeout(20_000))
      : { outcome: { kind: outcome }, provider: null, rendered: null }
  const settled = await settle(deps, claimed, attempt)
  const retryAt = settled.state === 'retry' ? settled.at : null
  if (outcome === 'temporary') {
    const { from, to, giveUpAt } = model.retryBetween(hand)
    if (retryAt === null) expect(to).toBeGreaterThanOrEqual(giveUpAt)
    else expect(retryAt >= from && retryAt <= to && retryAt < giveUpAt, `a retry at ${retryAt}`).toBe(true)
  }
  const said: Outcome = outcome === 'temporary' ? { kind: outcome, at: retryAt } : { kind: outcome }
  model.settle(hand, said)
  // The worker asks again, and does not get another instant.
  if (isTwice && retryAt === null) await settle(deps, claimed, attempt)
}

async function work({ engines, model }: Course, many: 1 | 2): Promise<void> {
  await Promise.all(engines.slice(0, many).map((engine) => engine.drain()))
  // What both had locked, so that neither took it.
  await engines[0].drain()
  for (;;) {
    const { moved, hands } = model.claim()
    if (moved === 0) return
    for (const hand of hands) model.settle(hand, { kind: 'accepted' })
  }
}

/** Goes through all that is left: nothing is forgotten, and nothing is sent twice. */
async function finish(course: Course): Promise<void> {
  const { model, campaignIds, stack, shop } = course
  course.inHand.length = 0
  for (const which of campaignIds.keys()) await act(course, { kind: 'status', which, status: 'published' })
  for (;;) {
    await work(course, 1)
    const next = Math.min(...model.enrolments.flatMap(({ row }) => (row ? [row.nextAt] : [])))
    if (next === Infinity) break
    model.now = next
    moveClock(course, next)
  }
  await expectSame(course, 'the end')
  expect(model.enrolments.filter(({ state }) => state === 'active')).toEqual([])
  const left = await stack.sql`
    select from due_steps where business_id = ${shop.businessId}
    union all select from messages where business_id = ${shop.businessId} and state = 'claimed'`
  expect(left).toHaveLength(0)
  const twice = await stack.sql`
    select from messages where business_id = ${shop.businessId} group by enrolment_id, step having count(*) > 1`
  expect(twice).toHaveLength(0)
}
