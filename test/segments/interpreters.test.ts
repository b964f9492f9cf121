/** Random rules and people: ClickHouse gives the same answers as the pure interpreter. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { matches } from '../../src/rules/segments/evaluate.ts'
import { resolveRule } from '../../src/rules/segments/resolve-rule.ts'
import type { ResolvedRule, Rule, WindowedCondition } from '../../src/rules/segments/rule.ts'
import { COMPILED_SETTINGS, compileToClickHouse } from '../../src/segments/compile-to-clickhouse.ts'
import { CURRENCY, FIELDS, TOPICS, instant, oneOfEachOperator, ruleOf, segmentsOf } from '../rules/segments/worlds.ts'
import { runs } from '../support/runs.ts'
import { type Lab, eraseAll, newBusiness, openLab, shipAll } from '../timeline/lab.ts'
import { propertyCondition as where } from './event-world.ts'
import { factsAt, type Person, peopleOf, writePeople } from './people-world.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

const oneOf = fc.constantFrom
const number = fc.oneof(
  fc.record({ operator: oneOf('exists' as const, 'not_exists' as const) }),
  fc.record({
    operator: oneOf('equals' as const, 'not_equals' as const, 'greater_than_or_equal' as const, 'less_than' as const),
    value: oneOf<number | string>(0, 1, 2, 12.5, '12.5', 0.3, '0.30000000000000004', '25.000000', 1e20, '0.3000000'),
  }),
)
const windowed: fc.Arbitrary<Rule> = fc
  .record({
    event: oneOf('purchase', 'visit'),
    form: fc.oneof(
      fc.record({ metric: fc.constant('count' as const), where: fc.array(where, { maxLength: 2 }) }),
      fc.record({ metric: fc.constant('count' as const), withinDays: oneOf(1, 0.5, 7, 36_500) }),
      fc.record(
        {
          metric: fc.constant('sum' as const),
          property: oneOf('value', 'item.price', 'items.0', 'big', 'type'),
          where: fc.array(where, { maxLength: 1 }),
          withinDays: oneOf(7, 30),
        },
        { requiredKeys: ['metric', 'property'] },
      ),
    ),
    number,
  })
  .map(
    ({ event, form, number: operation }) =>
      ({ event, ...form, ...withNumber(form.metric, operation) }) as WindowedCondition,
  )

/** Counts are compared only with numbers. */
const withNumber = (metric: string, { value, ...rest }: { value?: number | string; operator: string }) => ({
  ...rest,
  ...(value !== undefined && { value: metric === 'count' ? Number(value) : value }),
})

const question = fc.record({
  rule: fc.oneof(
    { weight: 3, arbitrary: ruleOf(['inner', 'outer']) },
    windowed,
    fc.record({ any: fc.tuple(windowed, fc.record({ not: windowed }), ruleOf([])).map((rules) => [...rules]) }),
  ),
  segments: segmentsOf(),
  now: instant(),
})
const world = fc.record({
  people: peopleOf(1),
  questions: fc.array(question, { minLength: 30, maxLength: 30 }),
})

/** Describes a failure for a reader, because it contains many people. */
function describe(one: Person, rule: ResolvedRule, now: number): string {
  const facts = { ...factsAt(one, rule, now), statistics: undefined, events: one.events }
  const lists = (_: string, value: unknown) => (value instanceof Map || value instanceof Set ? [...value] : value)
  return `${matches(rule, factsAt(one, rule, now), FIELDS, now) ? 'missing' : 'too much'} at ${now}: ${JSON.stringify(rule)} of ${JSON.stringify(facts, lists)}`
}

async function askClickHouse(query: string): Promise<Set<string>> {
  const result = await lab.clickhouse.query({
    query: `select toString(contact_id) as id from (${query})`,
    clickhouse_settings: COMPILED_SETTINGS,
    format: 'JSONEachRow',
  })
  const rows = await result.json<{ id: string }>()
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  return new Set(rows.map(({ id }) => id))
}

/** Writes the people. Returns a function that throws when ClickHouse selects other ones than the pure interpreter. */
async function openWorld(people: Person[]) {
  const businessId = newBusiness()
  const ids = await writePeople(lab, businessId, people)
  await shipAll(lab)
  await eraseAll(lab)
  return async (rule: Rule, segments: ReadonlyMap<string, Rule>, now: number): Promise<void> => {
    const resolved = resolveRule(rule, { segments, currency: CURRENCY, country: 'DE', topics: TOPICS })
    const found = await askClickHouse(compileToClickHouse(resolved, { businessId, fields: FIELDS, now }))
    const isMember = (one: Person) => !one.isErased && matches(resolved, factsAt(one, resolved, now), FIELDS, now)
    const first = people.find((one, place) => isMember(one) !== found.has(ids[place] ?? ''))
    if (first) throw new Error(describe(first, resolved, now))
  }
}

test('ClickHouse selects the people of whom a rule is true', { timeout: 900_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ people, questions }) => {
      const ask = await openWorld(people)
      for (const { rule, segments, now } of questions) await ask(rule, segments, now)
    }),
    { numRuns: runs(10), endOnFailure: true },
  )
})

test('ClickHouse knows every operator of every kind of condition', { timeout: 900_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(peopleOf(25), oneOfEachOperator, instant(), async (people, conditions, now) => {
      const ask = await openWorld(people)
      for (const condition of conditions) await ask(condition, new Map(), now)
    }),
    { numRuns: runs(3), endOnFailure: true },
  )
})
