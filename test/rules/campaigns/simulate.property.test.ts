/**
 * Random steps, answers, caps and quiet hours: a simulation against the interpreter that runs the steps recursively.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Cap, Definition } from '../../../src/rules/campaigns/definition.ts'
import type { Simulation } from '../../../src/rules/campaigns/simulate.ts'
import type { SendStep } from '../../../src/rules/campaigns/steps.ts'
import { walkSteps } from '../../../src/rules/campaigns/walk-steps.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { runs } from '../../support/runs.ts'
import { EVENTS, TIMES, stepsOf } from './definitions.ts'
import { FIRST, naiveWindow, naiveZone } from './naive-local-time.ts'
import { type World, runSteps } from './naive-steps.ts'
import { definitionOf } from './read.ts'
import { REACHABLE, type RunSimulation, runSimulation } from './run-simulation.ts'

const DAY = 86_400_000
const GOALS = ['purchase', 'paid']

const cap = fc.record({
  channel: fc.constantFrom('email', 'sms'),
  atMost: fc.integer({ min: 1, max: 3 }),
  days: fc.constantFrom(0.0001, 0.5, 1, 7),
  whenReached: fc.constantFrom('wait', 'skip'),
})

const scenario = fc.record({
  body: fc.record({
    steps: stepsOf(4).filter((steps) => steps.length > 0),
    quietHours: fc.option(fc.record({ from: fc.constantFrom(...TIMES), to: fc.constantFrom('06:00', '21:00') })),
    caps: fc.array(cap, { maxLength: 3 }),
  }),
  goalEvent: fc.option(fc.constantFrom(...GOALS)),
  contactId: fc.uuid(),
  zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Nuuk', 'Australia/Lord_Howe'),
  tags: fc.subarray(['vip', 'new']),
  after: fc.nat(300 * DAY),
  answers: fc.array(
    fc.record({
      event: fc.constantFrom(...EVENTS, ...GOALS),
      after: fc.oneof(fc.constantFrom(0, 1, 1000, DAY), fc.nat(30 * DAY)),
    }),
    { maxLength: 6 },
  ),
  earlier: fc.array(fc.record({ channel: fc.constantFrom('email' as const, 'sms' as const), ago: fc.nat(8 * DAY) }), {
    maxLength: 3,
  }),
  /** Decides which steps fail. */
  fails: fc.func(fc.boolean()),
})

/** Counts caps one by one at each instant that could end one. */
function naiveCaps(caps: readonly Cap[], { channel }: SendStep, sent: readonly number[], now: number) {
  const reached = caps.flatMap((one) => {
    const window = Math.ceil(one.days * DAY)
    const isFull = (at: number) => sent.filter((sentAt) => at - sentAt < window).length >= one.atMost
    if (one.channel !== channel || !isFull(now)) return []
    const ends = sent.map((sentAt) => sentAt + window).filter((end) => end > now && !isFull(end))
    return [{ isSkip: one.whenReached === 'skip', until: Math.min(...ends) }]
  })
  return { isSkipped: reached.some(({ isSkip }) => isSkip), until: Math.max(now, ...reached.map(({ until }) => until)) }
}

function runNaively(
  { definition, goal, contact, from, answers }: Simulation,
  { isTrue, fails }: { isTrue: World['isTrue']; fails: readonly string[] },
): RunSimulation {
  const { contactId, zone } = contact
  const world: World = { now: from, zone, contactId, events: [], isSettled: false, isTrue, meets: false }
  const steps = new Map(walkSteps(definition.steps).map(({ step }) => [step.id, step]))
  const stands = runSteps(definition.steps, world, [])
  const sends: RunSimulation['sends'] = []
  const sent = [...contact.sent]
  const capped = new Set<string>()
  for (;;) {
    const { now } = world
    world.events = answers.filter(({ at }) => at <= now)
    if (world.events.some(({ event }) => event === goal?.event))
      return { sends, end: { kind: 'ended', state: 'converted', endsAt: now } }
    const { value: stand } = stands.next()
    if (stand === undefined) return { sends, end: { kind: 'ended', state: 'finished', endsAt: now } }
    let until = now
    if (stand.kind === 'wait') until = stand.dueAt
    else if (stand.kind === 'update') world.isSettled = true
    else {
      const step = steps.get(stand.stepId) as SendStep
      const isMarketing = step.kind === 'marketing'
      const isHeld = isMarketing && (!stand.isImmediate || capped.has(step.id)) && definition.quietHours !== null
      if (isHeld)
        until = naiveWindow(naiveZone(zone), now, definition.quietHours ?? { from: '21:00', to: '09:00' }).from
      const times = sent.flatMap(({ channel, at }) => (channel === step.channel ? [at] : []))
      const caps = naiveCaps(isMarketing && until === now ? definition.caps : [], step, times, now)
      if (caps.until > now && !caps.isSkipped) {
        capped.add(step.id)
        until = caps.until
      }
      if (until === now) {
        sends.push([caps.isSkipped ? `${step.id} cap` : step.id, now])
        if (!caps.isSkipped && !fails.includes(step.id)) sent.push({ channel: step.channel, at: now })
        world.isSettled = true
      }
    }
    // The simulation looks again at each answer, whether or not it concerns the enrolment.
    if (until > now) world.now = Math.min(until, ...answers.map(({ at }) => at).filter((at) => at > now))
  }
}

const tagRule =
  (tags: readonly string[]) =>
  (rule: Rule): boolean =>
    'not' in rule ? !tagRule(tags)(rule.not) : 'tag' in rule && tags.includes(rule.tag)

test('a simulation sends what the steps send, at the same instants, in whatever order the answers are given', () => {
  fc.assert(
    fc.property(scenario, ({ body, goalEvent, contactId, zone, tags, after, answers, earlier, fails }) => {
      const definition: Definition = definitionOf(body)
      const from = FIRST + after
      const isTrue = tagRule(tags)
      const simulation: Simulation = {
        campaignId: 'c',
        definition,
        goal: goalEvent === null ? null : { event: goalEvent },
        contact: {
          ...REACHABLE,
          contactId,
          zone,
          testRule: isTrue,
          sent: earlier.map(({ channel, ago }) => ({ channel, at: from - ago })),
        },
        from,
        answers: answers.map(({ event, after }) => ({ event, at: from + after })),
      }
      const failing = walkSteps(definition.steps).flatMap(({ step }) => (fails(step.id) ? [step.id] : []))
      const expected = runNaively(simulation, { isTrue, fails: failing })
      expect(runSimulation(simulation, failing)).toEqual(expected)
      expect(runSimulation({ ...simulation, answers: simulation.answers.toReversed() }, failing)).toEqual(expected)
    }),
    { numRuns: runs(1250) },
  )
})
