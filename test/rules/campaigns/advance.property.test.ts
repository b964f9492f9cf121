/**
 * Random steps and worlds: `advance`, which only gets the last position, against an interpreter that runs the steps
 * recursively.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Action, type Facts, type Position, advance } from '../../../src/rules/campaigns/advance.ts'
import type { Definition } from '../../../src/rules/campaigns/definition.ts'
import { walkSteps } from '../../../src/rules/campaigns/walk-steps.ts'
import { runs } from '../../support/runs.ts'
import { EVENTS, stepsOf } from './definitions.ts'
import { FIRST } from './naive-local-time.ts'
import { type World, runSteps } from './naive-steps.ts'
import { definitionOf } from './read.ts'

const ZONES = ['UTC', 'Europe/Berlin', 'America/Nuuk', 'Pacific/Kiritimati', 'Australia/Lord_Howe']

/** An event or a change between two looks at the enrolment. */
type Happening =
  | { kind: 'clock'; ms: number }
  | { kind: 'due'; more: number }
  | { kind: 'event'; event: string; ago: number }
  | { kind: 'zone'; zone: string }
  | { kind: 'tag'; tag: string }
  | { kind: 'settle' }

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    kind: fc.constant('clock' as const),
    ms: fc.oneof(fc.constantFrom(0, 1, 999, 1000, 86_400_000), fc.nat(700_000_000)),
  }),
  fc.record({ kind: fc.constant('due' as const), more: fc.constantFrom(-1, 0, 1) }),
  fc.record({
    kind: fc.constant('event' as const),
    event: fc.constantFrom(...EVENTS),
    // Dated in the future, now, or in the past.
    ago: fc.oneof(fc.constantFrom(-60_000, 0, 1), fc.nat(200_000_000)),
  }),
  fc.record({ kind: fc.constant('zone' as const), zone: fc.constantFrom(...ZONES) }),
  fc.record({ kind: fc.constant('tag' as const), tag: fc.constantFrom('vip', 'new') }),
  fc.record({ kind: fc.constant('settle' as const) }),
)

const scenario = fc.record({
  steps: stepsOf(4).filter((steps) => steps.length > 0),
  happenings: fc.array(happening, { maxLength: 30 }),
  contactId: fc.uuid(),
  zone: fc.constantFrom(...ZONES),
})

function worldOf(contactId: string, zone: string): World & { tags: Set<string> } {
  const tags = new Set<string>()
  const isTrue: World['isTrue'] = (rule) => ('not' in rule ? !isTrue(rule.not) : 'tag' in rule && tags.has(rule.tag))
  return { now: FIRST, zone, contactId, events: [], tags, isSettled: false, meets: true, isTrue }
}

const factsOf = (world: World): Facts => ({
  testRule: (rule) => world.isTrue(rule),
  awaitedEventAt: ({ event }, since) => {
    const instants = world.events.flatMap((one) => (one.event === event && one.at >= since ? [one.at] : []))
    return instants.length > 0 ? Math.min(...instants) : null
  },
  timezone: () => world.zone,
})

function change(world: ReturnType<typeof worldOf>, action: Action, happening: Happening): void {
  switch (happening.kind) {
    case 'clock':
      world.now += happening.ms
      break
    case 'due':
      if (action.kind === 'wait') world.now = Math.max(world.now, action.dueAt + happening.more)
      break
    case 'event':
      world.events.push({ event: happening.event, at: world.now - happening.ago })
      break
    case 'zone':
      world.zone = happening.zone
      break
    case 'tag':
      if (!world.tags.delete(happening.tag)) world.tags.add(happening.tag)
      break
    case 'settle':
      world.isSettled = true
  }
}

/** The parts in which both must agree. */
function shown(action: Action) {
  switch (action.kind) {
    case 'wait': {
      const { kind, position, dueAt, listensFor } = action
      return { kind, stepId: position.stepId, since: position.since, dueAt, listensFor: listensFor?.event ?? null }
    }
    case 'update': {
      const { kind, position } = action
      return { kind, stepId: position.stepId, since: position.since }
    }
    case 'send': {
      const { kind, position, isImmediate } = action
      return { kind, stepId: position.stepId, since: position.since, isImmediate }
    }
    default:
      return { kind: action.kind }
  }
}

/** In the form in which the database returns it. */
const stored = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value

function follow(definition: Definition, world: ReturnType<typeof worldOf>, happenings: readonly Happening[]): void {
  const entered: string[] = []
  const naive = runSteps(definition.steps, world, entered)
  const expectSame = (action: Action): void => {
    const before = entered.length
    const { done, value } = naive.next()
    expect(shown(action)).toEqual(done === true ? { kind: 'finish' } : value)
    expect(action.entered).toEqual(entered.slice(before))
  }
  const move = (position: Position | { done: Position } | null): Action => {
    const asked = { definition, contactId: world.contactId, position, now: world.now, facts: factsOf(world) }
    const action = advance(asked)
    expect(advance(asked)).toEqual(action)
    return action
  }
  const look = (action: Action): Action => {
    if (action.kind === 'finish' || action.kind === 'stay') return action
    const position = stored(action.position)
    const isDone = action.kind !== 'wait' && world.isSettled
    const next = move(isDone ? { done: position } : position)
    expectSame(next)
    return next
  }
  let action = move(null)
  expectSame(action)
  for (const happening of happenings) {
    if (action.kind === 'finish') return
    change(world, action, happening)
    action = look(action)
  }
  // Without further events, and with each send settled and each wait passed at its instant, the enrolment ends.
  for (let left = 2 * walkSteps(definition.steps).length; action.kind !== 'finish'; left--) {
    expect(left).toBeGreaterThan(0)
    if (action.kind === 'wait') world.now = Math.max(world.now, action.dueAt)
    world.isSettled = action.kind !== 'wait'
    action = look(action)
  }
}

test('an enrolment moves as the steps are written, whatever happens meanwhile', () => {
  fc.assert(
    fc.property(scenario, ({ steps, happenings, contactId, zone }) =>
      follow(definitionOf({ steps }), worldOf(contactId, zone), happenings),
    ),
    { numRuns: runs(2500) },
  )
})
