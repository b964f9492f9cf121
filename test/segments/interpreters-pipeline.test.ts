/**
 * Whatever the pipeline has recorded, merged, edited and erased: ClickHouse gives the same answer to a rule as the pure
 * interpreter over the data in Postgres.
 */
import * as fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Identity } from '../../src/rules/events/facts.ts'
import { isWindowed } from '../../src/rules/segments/condition-kinds.ts'
import { matches } from '../../src/rules/segments/evaluate.ts'
import { factConditionsOf } from '../../src/rules/segments/membership/reads-of.ts'
import { resolveRule } from '../../src/rules/segments/resolve-rule.ts'
import type { ResolvedRule } from '../../src/rules/segments/rule.ts'
import { previewRule } from '../../src/segments/preview-rule.ts'
import { readFacts } from '../../src/segments/read-facts.ts'
import type { WorkerAnswer } from '../../src/stream/entry.ts'
import { CURRENCY, FIELDS, TOPICS, instant, ruleOf, segmentsOf } from '../rules/segments/worlds.ts'
import {
  type RequestContext,
  NOW,
  batch,
  eventFact,
  identify,
  identifyFact,
  openPipeline,
  track,
} from '../support/facts.ts'
import { runs } from '../support/runs.ts'
import { createBusiness } from '../support/stack.ts'
import { addTopics } from '../support/topics.ts'
import { type Lab, eraseAll, openLab, shipAll } from '../timeline/lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

type Make = (businessId: string, known: string[]) => RequestContext
type Step = 'ship' | 'finish' | Make[]

const oneOf = fc.constantFrom
/** Few values, so that calls refer to the same people and merge them. */
const identity: fc.Arbitrary<Identity> = fc
  .record(
    {
      email: oneOf('ann@example.com', 'bob@example.com', 'kim@shop.example'),
      phone: oneOf('4917612345678', '13125550100'),
    },
    { requiredKeys: [] },
  )
  .filter((fields) => Object.keys(fields).length > 0)
const traits = fc.record(
  {
    plan: oneOf('a', 'AB', null),
    age: oneOf(1, 12.5, 1e20, null),
    vip: oneOf(true, false, null),
    renewal: oneOf('2026-11-20', '2026-11-20T12:00:00.001Z', '2026-11-27T12:00:00Z', null),
  },
  { requiredKeys: [] },
)
const fact = fc
  .record({
    event: oneOf('purchase', 'visit', 'constructor'),
    who: identity,
    occurredAt: instant(),
    value: oneOf(0.1, -0.25, 0, 1e15, undefined),
    sentCurrency: oneOf('EUR', 'USD', undefined),
    traits,
    tags: fc.subarray(['purchase', 'visit']),
  })
  .map(({ event, who, value, sentCurrency, ...rest }) =>
    eventFact(event, who, {
      ...rest,
      ...(value !== undefined && { value }),
      ...(sentCurrency && { sentCurrency }),
    }),
  )
const who = (known: string[], n: number): string => known[n % known.length] ?? uuidv7()
const call: fc.Arbitrary<Make> = fc.oneof(
  fact.map(
    (one): Make =>
      (business) =>
        track(business, one),
  ),
  fc.array(fact, { minLength: 1, maxLength: 4 }).map(
    (facts): Make =>
      (business) =>
        batch(business, facts),
  ),
  fc.tuple(identity, traits, oneOf('DE', 'a', 'AB')).map(
    ([person, fields, country]): Make =>
      (business) =>
        identify(business, identifyFact(person, { profile: { country, firstName: 'aB' }, traits: fields })),
  ),
  fc
    .tuple(fc.nat(9), oneOf('email', 'sms', 'push'), fc.boolean())
    .map(([n, channel, subscribed]): Make => (businessId, known) => ({
      kind: 'subscribe',
      businessId,
      receivedAt: NOW,
      contactId: who(known, n),
      channels: { [channel]: subscribed },
      method: 'test',
    })),
  fc
    .tuple(fc.nat(9), oneOf('email', 'sms'), oneOf(...TOPICS.keys()), fc.boolean())
    .map(([n, channel, topic, subscribed]): Make => (businessId, known) => ({
      kind: 'subscribe',
      businessId,
      receivedAt: NOW,
      contactId: who(known, n),
      channels: {},
      topics: [{ topic, channel, subscribed }],
      method: 'test',
    })),
  fc.tuple(fc.nat(9), fc.subarray(['purchase', 'visit'])).map(([n, removeTags]): Make => (businessId, known) => ({
    kind: 'edit',
    businessId,
    receivedAt: NOW,
    contactId: who(known, n),
    fact: {
      profile: { country: null, city: 'b' },
      traits: { plan: null },
      addTags: ['constructor'],
      removeTags,
      warnings: [],
    },
  })),
)
const erase = fc.nat(9).map((n): Make => (businessId, known) => ({
  kind: 'erase',
  businessId,
  receivedAt: NOW,
  contactId: who(known, n),
}))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.array(call, { minLength: 1, maxLength: 5 }) },
  { weight: 1, arbitrary: erase.map((one) => [one]) },
  { weight: 2, arbitrary: fc.constant('ship' as const) },
  { weight: 1, arbitrary: fc.constant('finish' as const) },
)
const question = fc
  .record({ rule: ruleOf(['inner', 'outer']), segments: segmentsOf(), now: instant() })
  .map(({ rule, segments, now }) => ({
    rule: resolveRule(rule, { segments, currency: CURRENCY, country: 'DE', topics: TOPICS }),
    now,
  }))
  .filter(({ rule }) => !factConditionsOf(rule).some(isWindowed))

test('a preview counts and names those of whom the rule is true', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.array(question, { minLength: 20, maxLength: 20 }),
      async (steps, questions) => {
        const { businessId } = await createBusiness(lab.sql)
        await addTopics(lab.sql, businessId, { news: { defaultOn: true }, offers: { defaultOn: false } })
        await run(businessId, steps)
        // Erased people may be hidden but not deleted yet: they are not counted.
        await shipAll(lab)
        for (const { rule, now } of questions) {
          const members = await membersOf(businessId, rule, now)
          const found = await previewRule(lab, { businessId, rule, fields: FIELDS, sample: 100, now })
          if (found === 'unavailable') throw new Error('unavailable')
          expect([rule, found.count, found.sample.toSorted()]).toEqual([rule, members.length, members.toSorted()])
        }
      },
    ),
    { numRuns: runs(8), endOnFailure: true },
  )
})

async function run(businessId: string, steps: Step[]): Promise<void> {
  const pipeline = await openPipeline(lab.sql, `preview-${uuidv7()}`)
  const known: string[] = []
  for (const one of steps) {
    if (one !== 'ship' && one !== 'finish') {
      known.push(...idsOf(await pipeline.apply(...one.map((make) => make(businessId, known)))))
      continue
    }
    await shipAll(lab)
    if (one === 'finish') await eraseAll(lab)
  }
}

const idsOf = (answers: WorkerAnswer[]): string[] =>
  answers.flatMap((answer) => ('contactId' in answer && answer.contactId ? [answer.contactId] : []))

async function membersOf(businessId: string, rule: ResolvedRule, now: number): Promise<string[]> {
  const contacts = await lab.sql<{ id: string }[]>`
    select id from contacts where business_id = ${businessId} and merged_into is null`
  const members: string[] = []
  for (const { id } of contacts) {
    const found = await readFacts(lab.sql, businessId, id)
    if (found && matches(rule, found.facts, FIELDS, now)) members.push(id)
  }
  return members
}
