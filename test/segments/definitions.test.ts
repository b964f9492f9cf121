/** Creating, changing and deleting segments: the rules that saves evaluate follow the definitions. */
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Actor } from '../../src/audit/audit.ts'
import type { ResolvedRule, Rule } from '../../src/rules/segments/rule.ts'
import { createSegment } from '../../src/segments/create-segment.ts'
import { deleteSegment } from '../../src/segments/delete-segment.ts'
import { MAX_CONDITIONS, MAX_SEGMENTS } from '../../src/segments/limits.ts'
import { readSegment } from '../../src/segments/list-segments.ts'
import { changeBusiness } from '../../src/segments/change-business.ts'
import { updateSegment } from '../../src/segments/update-segment.ts'
import { runs } from '../support/runs.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let businessId: string
beforeEach(async () => {
  ;({ businessId } = await createBusiness(stack.sql))
})

const actor: Actor = { kind: 'command', id: 'test', name: 'test' }
const VIP: Rule = { tag: 'vip', operator: 'has' }
const OTHER: Rule = { tag: 'other', operator: 'has' }
const member = (segment: string): Rule => ({ segment, operator: 'is_member' })

const outcomeOf = (rule: unknown, name = 'x') =>
  createSegment(stack.sql, { businessId, actor }, { name, description: null, rule })
const update = (segmentId: string, rule: unknown) =>
  updateSegment(stack.sql, { businessId, actor }, { segmentId, rule })

async function create(rule: Rule, name?: string): Promise<string> {
  const outcome = await outcomeOf(rule, name)
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.segment.segmentId
}

interface Held {
  no: number
  state: string
  version: number
  rule: ResolvedRule
}
const rulesOf = async (segmentId: string): Promise<Held[]> => [
  ...(await stack.sql<Held[]>`
    select no, state, version, rule from segment_rules
    where business_id = ${businessId} and segment_id = ${segmentId} order by no`),
]
const statesOf = async (segmentId: string) => (await rulesOf(segmentId)).map(({ state }) => state)

async function configVersion(): Promise<number> {
  const [row] = await stack.sql<[{ version: number }]>`
    select config_version as version from businesses where id = ${businessId}`
  return row.version
}
async function epoch(): Promise<number> {
  const [row] = await stack.sql<{ epoch: number }[]>`
    select epoch from segment_builds where business_id = ${businessId}`
  return row?.epoch ?? 0
}

/** Does the segment worker's work on the rules of a business without contacts. */
async function finishPass(): Promise<void> {
  await stack.sql`select switch_segment_rules(${businessId}, ${await epoch()}, 1)`
  await stack.sql`update segment_rules set switched_at = null, replaces = null where business_id = ${businessId}`
}

describe('the rules that saves evaluate', () => {
  test('are built beside the one in force, and replaced when another edit comes', async () => {
    const id = await create(VIP)
    expect(await rulesOf(id)).toMatchObject([{ state: 'building', version: 1, rule: VIP }])
    await finishPass()
    const before = await configVersion()
    await update(id, OTHER)
    expect(await rulesOf(id)).toMatchObject([
      { state: 'current', rule: VIP },
      { state: 'building', version: 2, rule: OTHER },
    ])
    expect(await configVersion()).toBe(before + 1)
    const pass = await epoch()
    await update(id, { not: OTHER })
    expect(await statesOf(id)).toEqual(['current', 'retired', 'building'])
    expect(await epoch()).toBeGreaterThan(pass)
  })

  test('are not put in force by a worker that was late for another pass', async () => {
    const id = await create(VIP)
    const late = await epoch()
    await finishPass()
    await update(id, OTHER)
    await expect(stack.sql`select switch_segment_rules(${businessId}, ${late}, 1)`).rejects.toThrow('edited meanwhile')
    expect(await statesOf(id)).toEqual(['current', 'building'])
  })

  test('are not built again for an equal rule', async () => {
    const id = await create({ all: [VIP, { event: 'e', metric: 'count', operator: 'equals', value: 1 }] })
    const [before, version, pass] = [await rulesOf(id), await configVersion(), await epoch()]
    const same = {
      all: [
        { operator: 'has', tag: 'vip' },
        { value: 1, operator: 'equals', metric: 'count', event: 'e' },
      ],
    }
    expect(await update(id, same)).toMatchObject({ kind: 'updated', segment: { version: 1 } })
    expect([await rulesOf(id), await configVersion(), await epoch()]).toEqual([before, version, pass])
  })

  test('are not checked again when they are sent as they are: a field that they name may have come with another type', async () => {
    const rule = { all: [VIP, { customField: 'plan', operator: 'starts_with', value: 'p' }] } as Rule
    const id = await create(rule)
    await stack.sql`insert into custom_fields (business_id, key, type, created_at) values (${businessId}, 'plan', 'Number', 0)`
    const { kind, segment } = (await updateSegment(
      stack.sql,
      { businessId, actor },
      { segmentId: id, name: 'y', rule },
    )) as {
      kind: string
      segment?: { name: string; version: number; warnings: { path: string }[] }
    }
    expect([kind, segment?.name, segment?.version]).toEqual(['updated', 'y', 1])
    expect(segment?.warnings.map(({ path }) => path)).toEqual(['rule.all[1].operator'])
    expect(await update(id, { any: [rule] })).toMatchObject({ kind: 'faults' })
  })

  test('go back to the one in force when its definition comes back', async () => {
    const id = await create(VIP)
    await finishPass()
    await update(id, OTHER)
    expect(await update(id, VIP)).toMatchObject({ segment: { status: 'ready', version: 3 } })
    expect(await rulesOf(id)).toMatchObject([{ state: 'current', version: 3, rule: VIP }, { state: 'retired' }])
  })

  test('follow the rules that they name, through others, and no further', async () => {
    const inner = await create(VIP)
    const middle = await create({ not: member(inner) })
    const outer = await create({ any: [member(middle), OTHER] })
    const apart = await create(OTHER)
    await finishPass()
    await update(inner, OTHER)
    for (const id of [inner, middle, outer]) expect(await statesOf(id)).toEqual(['current', 'building'])
    expect(await statesOf(apart)).toEqual(['current'])
    const [, building] = await rulesOf(outer)
    expect(building).toMatchObject({ version: 1, rule: { any: [{ rule: { not: { rule: OTHER } } }, OTHER] } })
  })

  test.each([
    ['the default currency', { currency: 'EUR' }, { attribute: 'revenue', operator: 'greater_than', value: 5 }],
    ['the country', { country: 'IL' }, { attribute: 'phone', operator: 'equals', value: '050-123-4567' }],
  ] as const)('follow %s', async (_, settings, rule) => {
    const [dependent, apart] = [await create(rule), await create(VIP)]
    await finishPass()
    const change = (changed: Parameters<typeof changeBusiness>[2]) =>
      changeBusiness(stack.sql, { businessId, actor }, changed, { maySetRateLimit: false })
    await change({ name: 'Other', timezone: 'Europe/Paris' })
    expect(await statesOf(dependent)).toEqual(['current'])
    await change(settings)
    expect(await statesOf(dependent)).toEqual(['current', 'building'])
    expect(await statesOf(apart)).toEqual(['current'])
  })

  test('are retired with the segment', async () => {
    const id = await create(VIP)
    await finishPass()
    await update(id, OTHER)
    const before = await configVersion()
    expect(await deleteSegment(stack.sql, { businessId, actor }, id)).toEqual({ kind: 'deleted' })
    expect(await statesOf(id)).toEqual(['retired', 'retired'])
    expect(await configVersion()).toBe(before + 1)
    expect(await deleteSegment(stack.sql, { businessId, actor }, id)).toEqual({ kind: 'not_found' })
  })
})

describe('limits', () => {
  test(`a business has ${MAX_SEGMENTS} segments at most`, async () => {
    await stack.sql`
      insert into segments (business_id, id, name, rule)
      select ${businessId}, gen_random_uuid(), 'Filler', ${JSON.stringify(VIP)}::text::jsonb
      from generate_series(1, ${MAX_SEGMENTS - 1})`
    const last = await create(VIP)
    expect(await outcomeOf(VIP)).toEqual({ kind: 'too_many_segments' })
    await deleteSegment(stack.sql, { businessId, actor }, last)
    expect(await outcomeOf(VIP)).toMatchObject({ kind: 'created' })
  })

  test(`its rules have ${MAX_CONDITIONS} conditions at most`, async () => {
    const manyOf = (n: number) => ({ all: Array.from({ length: n }, (_, place) => ({ ...VIP, tag: `t${place}` })) })
    await stack.sql`
      insert into segments (business_id, id, name, rule)
      select ${businessId}, gen_random_uuid(), 'Filler', ${JSON.stringify(manyOf(100))}::text::jsonb
      from generate_series(1, ${MAX_CONDITIONS / 100 - 1})`
    const last = await create(manyOf(99))
    expect(await outcomeOf(manyOf(2))).toEqual({ kind: 'too_many_conditions' })
    const one = await create(VIP)
    expect(await update(one, manyOf(2))).toEqual({ kind: 'too_many_conditions' })
    expect(await update(one, OTHER)).toMatchObject({ kind: 'updated' })
    await update(last, manyOf(98))
    expect(await update(one, manyOf(2))).toMatchObject({ kind: 'updated' })
  })

  test('hold for those who create at the same time', async () => {
    await stack.sql`
      insert into segments (business_id, id, name, rule)
      select ${businessId}, gen_random_uuid(), 'Filler', ${JSON.stringify(VIP)}::text::jsonb
      from generate_series(1, ${MAX_SEGMENTS - 2})`
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => outcomeOf(VIP)))
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual([
      'created',
      'created',
      'too_many_segments',
      'too_many_segments',
    ])
  })
})

describe('at the same time', () => {
  test('two changes end in one of them, whole', async () => {
    const id = await create(VIP)
    const texts = ['one', 'two', 'three', 'four']
    const change = (text: string) =>
      updateSegment(
        stack.sql,
        { businessId, actor },
        { segmentId: id, name: text, description: text, rule: { ...VIP, tag: text } },
      )
    await Promise.all(texts.map(change))
    const segment = await readSegment(stack.sql, businessId, id)
    expect(segment).toMatchObject({
      description: segment?.name,
      rule: { ...VIP, tag: segment?.name },
      version: 1 + texts.length,
    })
    const active = (await rulesOf(id)).filter(({ state }) => state !== 'retired')
    expect(active).toMatchObject([{ state: 'building', rule: segment?.rule, version: segment?.version }])
  })

  test('two segments cannot be made to name each other', async () => {
    const [a, b] = [await create(VIP), await create(OTHER)]
    const outcomes = await Promise.all([update(a, member(b)), update(b, member(a))])
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['faults', 'updated'])
  })

  test('a segment is not deleted that another begins to name', async () => {
    for (let round = 0; round < 5; round += 1) {
      const inner = await create(VIP)
      const [deleted, named] = await Promise.all([
        deleteSegment(stack.sql, { businessId, actor }, inner),
        outcomeOf(member(inner)),
      ])
      expect([
        ['deleted', 'faults'],
        ['in_use', 'created'],
      ]).toContainEqual([deleted.kind, named.kind])
    }
  })
})

test('any changes leave the rules as the definitions want them', async () => {
  const rules = fc.oneof(
    fc.constantFrom('a', 'b').map((tag) => () => ({ ...VIP, tag })),
    fc.nat(3).map((place) => (ids: string[]) => (ids[place] === undefined ? VIP : { not: member(ids[place]) })),
    fc.constant(() => ({ attribute: 'revenue', operator: 'exists' })),
  )
  const steps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), rule: rules }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('update' as const), place: fc.nat(3), rule: rules }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), place: fc.nat(3) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('finish' as const) }) },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('settings' as const), currency: fc.constantFrom('USD', 'EUR') }),
      },
    ),
    { minLength: 4, maxLength: 14 },
  )
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      ;({ businessId } = await createBusiness(stack.sql))
      const ids: string[] = []
      for (const step of taken) {
        if (step.do === 'create') {
          const outcome = await outcomeOf(step.rule(ids))
          if (outcome.kind === 'created') ids.push(outcome.segment.segmentId)
        } else if (step.do === 'settings') {
          await changeBusiness(
            stack.sql,
            { businessId, actor },
            { currency: step.currency },
            { maySetRateLimit: false },
          )
        } else if (step.do === 'finish') {
          if ((await epoch()) > 0) await finishPass()
        } else {
          const id = ids[step.place]
          if (id === undefined) continue
          if (step.do === 'update') await update(id, step.rule(ids))
          else if ((await deleteSegment(stack.sql, { businessId, actor }, id)).kind === 'deleted')
            ids.splice(step.place, 1)
        }
        await expectFollowed(ids)
      }
    }),
    { numRuns: runs(25) },
  )
})

/** Expects that the rule being built, or else the rule in force, is the definition with the inner segments inserted. */
async function expectFollowed(ids: string[]): Promise<void> {
  const [{ currency }] = await stack.sql<
    [{ currency: string }]
  >`select currency from businesses where id = ${businessId}`
  const definitions = new Map<string, Rule>()
  for (const id of ids) definitions.set(id, (await readSegment(stack.sql, businessId, id))!.rule)
  const inPlace = (rule: Rule): object => {
    if ('not' in rule) return { not: inPlace(rule.not) }
    if ('segment' in rule) return { ...rule, rule: inPlace(definitions.get(rule.segment)!) }
    return 'attribute' in rule ? { ...rule, currency } : rule
  }
  for (const id of ids) {
    const active = (await rulesOf(id)).filter(({ state }) => state !== 'retired')
    const newest = active.find(({ state }) => state === 'building') ?? active[0]
    expect(newest?.rule).toMatchObject(inPlace(definitions.get(id)!))
  }
  const [{ orphans }] = await stack.sql<[{ orphans: number }]>`
    select count(*)::int as orphans from segment_rules r where business_id = ${businessId} and state <> 'retired'
      and not exists (select from segments s where s.business_id = r.business_id and s.id = r.segment_id)`
  expect(orphans).toBe(0)
}
