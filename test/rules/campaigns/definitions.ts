/** Random steps, as callers send them. */
import * as fc from 'fast-check'
import { MAX_STEPS } from '../../../src/rules/campaigns/definition.ts'
import { RULE, TEMPLATE } from './read.ts'

export const EVENTS = ['visit', 'purchase']
const SPANS = ['PT0.001S', 'PT1S', 'PT90M', 'P1D', 'P1W1DT2H3M4S']
const RULES = [RULE, { not: RULE }, { tag: 'new', operator: 'has' }]
export const TIMES = ['00:00', '02:30', '09:00', '23:59']

const WHERE = [{ property: 'total', operator: 'greater_than', value: 5 }]

type Sent = Record<string, unknown>

const span = fc.constantFrom(...SPANS)
const leaf: fc.Arbitrary<Sent> = fc.oneof(
  fc.record({
    type: fc.constant('send'),
    channel: fc.constantFrom('email', 'sms'),
    template: fc.constant(TEMPLATE),
    kind: fc.constantFrom('marketing', 'transactional', null),
  }),
  fc.record({ type: fc.constant('wait'), for: span }),
  fc.record({
    type: fc.constant('wait_until'),
    time: fc.constantFrom(...TIMES),
    weekdays: fc.option(fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 })),
  }),
  fc.record({
    type: fc.constant('update'),
    addTags: fc.subarray(['new', 'vip']),
    removeTags: fc.subarray(['old', 'cold']),
    traits: fc.constantFrom({ plan: 'pro', seats: null }, { plan: 1 }),
  }),
  { weight: 1, arbitrary: fc.constant({ type: 'exit' }) },
)

/** Percents of one to four parts. */
const percents = fc
  .uniqueArray(fc.integer({ min: 1, max: 9999 }), { maxLength: 3 })
  .map((cuts) => cuts.sort((one, other) => one - other))
  .map((cuts) => [...cuts, 10_000].map((cut, index) => (cut - (cuts[index - 1] ?? 0)) / 100))

/** Generates lists of steps that are nested up to `levels` deep. */
export const stepsOf = (levels: number): fc.Arbitrary<Sent[]> =>
  anySteps(levels).filter((steps) => JSON.stringify(steps).split('"type":').length <= MAX_STEPS + 1)

function anySteps(levels: number): fc.Arbitrary<Sent[]> {
  if (levels === 1) return fc.array(leaf, { maxLength: 3 })
  const inner = anySteps(levels - 1)
  const group: fc.Arbitrary<Sent> = fc.oneof(
    fc.record({
      type: fc.constant('wait_for'),
      event: fc.constantFrom(...EVENTS),
      where: fc.constantFrom(undefined, null, WHERE),
      sameKey: fc.constantFrom(undefined, null, true, 'order.id'),
      timeout: span,
      steps: inner,
      otherwise: fc.option(inner),
    }),
    fc.record({ type: fc.constant('branch'), rule: fc.constantFrom(...RULES), steps: inner, otherwise: inner }),
    percents.chain((percents) =>
      fc.record({
        type: fc.constant('split'),
        parts: fc.tuple(...percents.map((percent) => inner.map((steps) => ({ percent, steps })))),
      }),
    ),
  )
  return fc.array(fc.oneof({ weight: 2, arbitrary: leaf }, { weight: 1, arbitrary: group }), { maxLength: 4 })
}
