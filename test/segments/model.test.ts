/** Random calls, worker steps and clocks: after each, all data about segments in Postgres is exact. */
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { openStack } from '../support/stack.ts'
import { type Snapshot, findFaults, readSnapshot, show } from './model/check-memberships.ts'
import { changesByTime } from './model/evaluate.ts'
import { type World, beginLife, buildAll, live, openWorld, settle } from './model/live.ts'
import { type Life, type Step, life } from './model/steps.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let world: World
beforeAll(async () => {
  world = await openWorld(stack.sql)
})

const ofOne = { other: false, isReplay: false, back: 0 }
/**
 * The erasure settles the instant at which the contact became a member. In the history, that entry comes before the
 * erasure.
 */
const ERASED_WHEN_DUE: Life = {
  rules: [{ customField: 'renewal', operator: 'older_than_days', value: 2e-8 }],
  pageIdentify: 'open',
  steps: [
    {
      kind: 'calls',
      partition: 0,
      isPoisoned: false,
      calls: [
        {
          ...ofOne,
          call: {
            kind: 'identify',
            who: { email: 'ann@example.com' },
            profile: {},
            traits: { renewal: 0 },
            traitsAt: undefined,
            visitor: undefined,
            keyed: false,
          },
        },
      ],
    },
    { kind: 'wait', ms: 90_000, near: undefined },
    { kind: 'calls', partition: 0, isPoisoned: false, calls: [{ ...ofOne, call: { kind: 'erase', whom: 0 } }] },
  ],
}

it('memberships, history, sizes and clocks are exact after every call', { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(life, async ({ rules, pageIdentify, steps }) => {
      const [{ since }] = await stack.sql<[{ since: number }]>`select coalesce(max(id), 0)::int as since from outbox`
      await beginLife(world, rules, pageIdentify)
      let before = await look(since)
      for (const [n, step] of steps.entries()) {
        await live(world, step)
        before = await expectExact(before, since, step, `step ${n}, ${step.kind}`)
      }
      await buildAll(world)
      await settle(world)
      await expectExact(before, since, null, 'the end')
    }),
    { numRuns: Math.max(3, runs(10)), examples: [[ERASED_WHEN_DUE]] },
  )
})

const look = (since: number) => Promise.all(world.businesses.map((id) => readSnapshot(stack.sql, id, since)))

async function expectExact(before: Snapshot[], since: number, step: Step | null, when: string): Promise<Snapshot[]> {
  const after = await look(since)
  for (const [n, snapshot] of after.entries()) {
    const faults = findFaults(snapshot, world.clock)
    if (step?.kind === 'settle') faults.push(...timeFaults(before[n]!, snapshot))
    expect(faults, `${when}, business ${n}, ${world.clock}`).toEqual([])
  }
  return after
}

/** Expects that the worker's changes are exactly those that are found by checking every instant. */
function timeFaults(before: Snapshot, after: Snapshot): string[] {
  const made = after.changes.slice(before.changes.length)
  const expected = before.rules
    .filter(({ state, switched_at }) => state === 'current' && switched_at === null)
    .flatMap(({ segment_id, rule }) =>
      [...before.contacts].flatMap(([contactId, contact]) =>
        contact.dueAt === null || contact.dueAt > world.clock
          ? []
          : changesByTime(rule, contact, before.fields, contact.dueAt - 1, world.clock).map(
              ({ entered, at }) => `${segment_id} ${contactId} ${entered ? '+' : '-'}${at}`,
            ),
      ),
    )
  const found = made.map(
    ({ segmentId, contactId, entered, at }) => `${segmentId} ${contactId} ${entered ? '+' : '-'}${at}`,
  )
  const settled = new Set(
    before.rules.filter(({ switched_at }) => switched_at === null).map(({ segment_id }) => segment_id),
  )
  const comparable = found.filter((_, index) => settled.has(made[index]!.segmentId))
  const wrong = made.filter(({ cause }) => cause !== 'time' && cause !== 'bulk' && cause !== 'rule')
  if (show(expected.toSorted()) === show(comparable.toSorted()) && wrong.length === 0) return []
  return [`time made ${show(comparable)}, expected ${show(expected)}; causes ${show(made.map(({ cause }) => cause))}`]
}
