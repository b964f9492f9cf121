/** Runs a random life through real pipelines, the worker's steps and Postgres. */
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import { buildMembers } from '../../../src/segments/build-members.ts'
import { foldSizes } from '../../../src/segments/fold-sizes.ts'
import { logSwitched } from '../../../src/segments/log-switched.ts'
import { removeRetired } from '../../../src/segments/remove-retired.ts'
import type { Nominations } from '../../../src/segments/nominations.ts'
import type { SegmentDeps } from '../../../src/segments/segment-deps.ts'
import { settleDue } from '../../../src/segments/settle-due.ts'
import type { TraitValue } from '../../../src/rules/events/facts.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import type { Sql } from '../../../src/stores/postgres.ts'
import {
  NOW,
  type Pipeline,
  type RequestContext,
  browserFact,
  eventFact,
  identifyFact,
  openPipeline,
} from '../../support/facts.ts'
import { createBusiness } from '../../support/stack.ts'
import { insertSegment } from '../segments-support.ts'
import type { SentCall, SentCalls, SentEvent, Step } from './steps.ts'

export interface World {
  sql: Sql
  clock: number
  businesses: [string, string]
  segmentIds: string[]
  pipelines: Pipeline[]
  worker: SegmentDeps
  /** Without nominations, a build looks at all contacts. */
  nominations?: Nominations
}

export async function openWorld(sql: Sql): Promise<World> {
  const world: World = {
    sql,
    clock: NOW,
    businesses: ['', ''],
    segmentIds: [],
    pipelines: await Promise.all([0, 1, 2].map((n) => openPipeline(sql, `model-${n}-${uuidv7()}`))),
    worker: {
      sql,
      log: pino({ level: 'silent' }),
      config: { leaseMs: 3000 },
      configs: new Map(),
      now: () => world.clock,
    },
  }
  for (const { deps } of world.pipelines) deps.now = () => world.clock
  delete world.pipelines[2]!.deps.contactsOf
  return world
}

/**
 * Puts these rules in force in business 0, and the first of them in business 1. Nothing of an earlier life is left to
 * settle.
 */
export async function beginLife(
  world: World,
  rules: readonly Rule[],
  pageIdentify: 'open' | 'confirmed',
): Promise<void> {
  const { sql } = world
  await sql`truncate segment_clock, segment_rules, segment_builds, segment_members, segment_sizes, segments`
  world.clock = NOW
  const made = [await createBusiness(sql, { pageIdentify }), await createBusiness(sql)]
  world.businesses = [made[0]!.businessId, made[1]!.businessId]
  world.segmentIds = []
  for (const rule of rules) world.segmentIds.push((await insertSegment(sql, world.businesses[0], rule)).segmentId)
  if (rules[0]) await insertSegment(sql, world.businesses[1], rules[0])
}

export async function live(world: World, step: Step): Promise<void> {
  switch (step.kind) {
    case 'calls':
      return await deliver(world, step)
    case 'race':
      await race(world, step)
      return
    case 'wait':
      world.clock = await nextClock(world, step)
      return
    case 'settle':
      return await settle(world)
    case 'build':
      return await build(world)
    case 'define':
      return await define(world, step)
    case 'fold':
      return await foldSizes(world.worker)
  }
}

/** Runs two partitions and the worker at once. */
async function race(world: World, { first, second }: Extract<Step, { kind: 'race' }>): Promise<void> {
  const other = { ...second, partition: (first.partition + 1 + (second.partition % 2)) % 3 }
  await Promise.all([deliver(world, first), deliver(world, other), settleDue(world.worker)])
}

export async function settle({ worker }: World): Promise<void> {
  for (let steps = 0; (await settleDue(worker)) === 'more'; steps += 1)
    if (steps > 50) throw new Error('what is due is not settled')
}

/** Runs one step of each of the worker's jobs. @returns whether there is more to do */
async function buildOnce({ worker, nominations }: World): Promise<boolean> {
  const made = [await logSwitched(worker), await buildMembers(worker, new AbortController().signal, nominations)]
  return [...made, await removeRetired(worker)].includes(true)
}
const build = async (world: World) => void (await buildOnce(world))

export async function buildAll(world: World): Promise<void> {
  for (let steps = 0; await buildOnce(world); steps += 1)
    if (steps > 200) throw new Error('what is built is not completed')
}

async function nextClock({ sql, clock }: World, { ms, near }: Extract<Step, { kind: 'wait' }>): Promise<number> {
  if (!near) return clock + ms
  const due = await sql<{ due_at: number }[]>`
    select distinct due_at from segment_clock where due_at >= ${clock - 1} order by due_at`
  const chosen = due[near.which % Math.max(1, due.length)]
  return chosen ? Math.max(clock, chosen.due_at + near.more) : clock + ms
}

/** Creates or edits a segment of business 0, as its API does. */
async function define(
  { sql, businesses: [businessId], segmentIds }: World,
  { which, rule }: Extract<Step, { kind: 'define' }>,
) {
  const known = segmentIds[which]
  if (known !== undefined)
    await sql`
      update segment_rules set state = 'retired'
      where business_id = ${businessId} and segment_id = ${known} and state = 'building'`
  const { segmentId } = await insertSegment(sql, businessId, rule, 'building', known)
  if (known === undefined) segmentIds.push(segmentId)
  await sql`
    insert into segment_builds as b (business_id) values (${businessId})
    on conflict (business_id) do update set epoch = b.epoch + 1, cursor = null, done = 0`
}

async function deliver(world: World, { partition, calls, isPoisoned }: SentCalls): Promise<void> {
  const requests: RequestContext[] = []
  for (const call of calls) {
    const made = await requestOf(world, call)
    if (made) requests.push(made)
  }
  const isAlone = requests.some(({ kind }) => kind === 'edit' || kind === 'erase')
  if (isPoisoned && !isAlone) requests.push(poison(world))
  if (requests.length > 0) await world.pipelines[partition]!.apply(...requests)
}

/** An item that Postgres refuses. The search for it dry-runs the others. */
const poison = ({ businesses: [businessId], clock: receivedAt }: World): RequestContext => ({
  kind: 'track',
  businessId,
  receivedAt,
  keyed: true,
  source: 'live',
  fact: eventFact('visit', { email: 'nul@x.io' }, { tags: ['nul\u0000'], occurredAt: receivedAt }),
})

async function requestOf(world: World, { call, other, isReplay, back }: SentCall): Promise<RequestContext | null> {
  const { clock } = world
  const businessId = world.businesses[other ? 1 : 0]
  const base = { businessId, receivedAt: clock - back, ...(isReplay && { replayOf: uuidv7() }) }
  switch (call.kind) {
    case 'track': {
      const { keyed } = call.fact
      return {
        ...base,
        kind: 'track',
        keyed,
        source: keyed ? 'live' : 'browser',
        fact: factOf(call.fact, base.receivedAt),
      }
    }
    case 'batch':
      return {
        ...base,
        kind: 'batch',
        items: call.facts.map((one, index) => ({ index, fact: factOf(one, base.receivedAt) })),
      }
    case 'identify': {
      const { who, profile, traits, traitsAt, visitor, keyed } = call
      const fact = identifyFact(who, { profile, traits: traitsOf(traits, clock), visitorId: visitor ?? null })
      return {
        ...base,
        kind: 'identify',
        keyed,
        fact: traitsAt === undefined ? fact : { ...fact, traitsAt: clock + traitsAt },
      }
    }
    case 'browser':
      return {
        ...base,
        kind: 'browser',
        fact: browserFact(call.event, call.visitor, { occurredAt: base.receivedAt + call.at }),
      }
    default:
      return await requestOfContact(world, call, base)
  }
}

async function requestOfContact(
  { sql, clock }: World,
  call: Extract<SentCall['call'], { whom: number }>,
  base: { businessId: string; receivedAt: number },
): Promise<RequestContext | null> {
  const people = await sql<{ id: string }[]>`select id from contacts where business_id = ${base.businessId} order by id`
  const contactId = people[call.whom % Math.max(1, people.length)]?.id
  if (contactId === undefined) return null
  if (call.kind === 'erase') return { ...base, kind: 'erase', contactId }
  if (call.kind === 'subscribe')
    return { ...base, kind: 'subscribe', contactId, channels: call.channels, method: 'form' }
  const { profile, traits, addTags, removeTags } = call
  const fact = { profile, traits: traitsOf(traits, clock), addTags, removeTags, warnings: [] }
  return { ...base, kind: 'edit', contactId, fact }
}

function factOf({ event, who, at, value, currency, tags, traits, key, visitor }: SentEvent, receivedAt: number) {
  return eventFact(event, who, {
    occurredAt: receivedAt + at,
    ...(value === undefined ? {} : { value, sentCurrency: currency }),
    tags,
    traits: traitsOf(traits, receivedAt),
    idempotencyKey: key ?? null,
    visitorId: visitor ?? null,
  })
}

/** A renewal is sent relative to now. */
function traitsOf(sent: Record<string, TraitValue | undefined>, now: number): Record<string, TraitValue> {
  const { renewal, ...others } = sent
  const at = typeof renewal === 'number' ? new Date(now + renewal).toISOString() : renewal
  return Object.fromEntries(
    Object.entries({ ...others, renewal: at }).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}
