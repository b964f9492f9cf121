/** Runs a random life on the engine and in the reference model, and compares the two after every action. */
import { expect } from 'vitest'
import { shareOf } from '../../../src/rules/campaigns/stable-hash.ts'
import { NOW, openPipeline } from '../../support/facts.ts'
import { type Stack, createBusiness } from '../../support/stack.ts'
import { openEngine, openShop, stopClock, submitTo } from '../engine-lab.ts'
import { call } from './callers.ts'
import { type Course, type World, expectSame, moveClock } from './course.ts'
import { type Action, type Call, type Deed, type Life } from './life.ts'
import { sentCaps, sentQuiet, sentSteps } from './plan.ts'
import type { Person } from './records.ts'
import { PEOPLE, Reference } from './reference.ts'
import { labour, work } from './workers.ts'

export async function openWorld(stack: Stack): Promise<World> {
  await stopClock(stack.sql, NOW)
  const pipeline = await openPipeline(stack.sql)
  const submit = submitTo(pipeline)
  return { stack, pipeline, engines: [openEngine(stack, submit), openEngine(stack, submit)] }
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
    // The engines of the next life must not find anything of this one.
    await sql`delete from due_steps where business_id = ${course.shop.businessId}`
  }
}

async function begin(world: World, plans: Life['plans']): Promise<Course> {
  const { stack, engines, pipeline } = world
  moveClock(world, NOW)
  const { businessId } = await createBusiness(stack.sql)
  const shop = openShop(stack, engines[0], pipeline, businessId)
  const contactIds = new Map<Person, string>()
  const campaignIds: string[] = []
  const idOf = (person: Person) => contactIds.get(person) ?? ''
  const model = new Reference(NOW, plans, {
    ofSplit: (person, stepId) => shareOf('split', idOf(person), stepId),
    ofHoldOut: (person, campaign) => shareOf('hold-out', idOf(person), campaignIds[campaign] ?? ''),
  })
  const templates = { email: await shop.template(), webhook: await shop.template('webhook', '{}') }
  for (const { plan, versions } of model.campaigns) {
    const { trigger, goal, canEnterAgain, quiet, caps, holdOut } = plan
    const more = {
      trigger,
      canEnterAgain,
      ...(quiet !== 'business' && { quietHours: sentQuiet(quiet) }),
      caps: sentCaps(caps),
      holdOut,
      ...(goal !== null && { goal }),
    }
    campaignIds.push(await shop.publish(sentSteps(versions[0]!.steps, templates), more))
  }
  return {
    ...world,
    shop,
    templates,
    campaignIds,
    contactIds,
    people: new Map(),
    model,
    inFlight: [],
    updates: [],
  }
}

async function act(course: Course, action: Action): Promise<void> {
  if (action.kind === 'clock') moveOn(course, action)
  else if (DEEDS.has(action.kind)) await labour(course, action as Deed)
  else await call(course, action as Call)
}

const DEEDS: ReadonlySet<string> = new Set(['claim', 'settle', 'apply', 'die', 'work'] satisfies Deed['kind'][])

function moveOn({ engines, model }: Course, { ms, near }: Extract<Action, { kind: 'clock' }>): void {
  const instants = model.enrolments.flatMap(({ row }) => (row && !row.isHeld ? [row.nextAt] : []))
  const chosen = near === null ? undefined : instants[near.which % Math.max(1, instants.length)]
  model.now = chosen === undefined ? model.now + ms : Math.max(model.now, chosen + near!.more)
  moveClock({ engines }, model.now)
}

/** Processes everything that is left: nothing is forgotten, and nothing is sent twice. */
async function finish(course: Course): Promise<void> {
  const { model, campaignIds, stack, shop } = course
  course.inFlight.length = 0
  course.updates.length = 0
  await act(course, { kind: 'channel', isPaused: false })
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
