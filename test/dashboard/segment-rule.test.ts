/** A rule as the builder edits it: conversion to a tree and back, moves, operators, values, issues at nodes, its sentence. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ValueType } from '../../src/rules/segments/grammar/operators.ts'
import type { Draft } from '../../src/dashboard/src/features/rules/condition.ts'
import { operatorsOf, shapeOf, subjectOf, typeOf } from '../../src/dashboard/src/features/rules/condition.ts'
import * as edit from '../../src/dashboard/src/features/rules/edit-tree.ts'
import { isOf, placeIssues } from '../../src/dashboard/src/features/rules/place-issues.ts'
import { describeNode, plainText } from '../../src/dashboard/src/features/rules/sentence.ts'
import {
  type Group,
  type Node,
  emptyTree,
  isGroup,
  newGroup,
  newLeaf,
  ruleOf,
  treeOf,
} from '../../src/dashboard/src/features/rules/tree.ts'
import { firstCondition, missingParts, withMetric, withOperator } from '../../src/dashboard/src/features/rules/value.ts'
import { texts as words } from '../../src/dashboard/src/texts/en/segment-rules.ts'
import { runs } from '../support/runs.ts'

const WORDS = [
  'constructor',
  'toString',
  '__proto__',
  'within',
  'count',
  'last',
  'sum',
  'subscribed',
  'stage',
  'revenue',
  'between',
  'in',
  'before',
  'is_true',
  [{}],
  [null],
  {},
]

/** The words of conditions, followed by anything that a person may paste. */
const anyCondition = fc
  .record(
    Object.fromEntries(
      [
        'event',
        'customField',
        'attribute',
        'metric',
        'operator',
        'value',
        'where',
        'withinDays',
        'property',
        'currency',
      ].map((word) => [word, fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom<unknown>(...WORDS))]),
    ),
    { requiredKeys: [] },
  )
  .map((condition) => ({ event: 'purchase', ...condition }))

const { rule: anyRule } = fc.letrec<{ rule: unknown }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ tag: fc.string(), operator: fc.constantFrom('has', 'has_not') }),
    fc.record({ all: fc.array(tie('rule'), { maxLength: 4 }) }),
    fc.record({ any: fc.array(tie('rule'), { maxLength: 4 }) }),
    fc.record({ not: tie('rule') }),
    anyCondition,
    fc.jsonValue({ maxDepth: 2 }),
  ),
}))
const anyTree = anyRule.map(treeOf)

const nodesOf = (node: Node): Node[] => [node, ...(isGroup(node) ? node.nodes.flatMap(nodesOf) : [])]
const conditionsOf = (group: Group) => edit.leavesOf(group).map(({ condition }) => JSON.stringify(condition))

describe('the tree of a rule', () => {
  it('gives back the rule that it was made from, whatever JSON that is', () => {
    fc.assert(
      fc.property(anyRule, (rule) => {
        expect(ruleOf(treeOf(rule)).rule).toEqual(rule)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('keeps a single condition without a group until another joins it', () => {
    const rule = { tag: 'vip', operator: 'has' }
    const tree = treeOf(rule)
    expect(ruleOf(tree).rule).toEqual(rule)
    const more = edit.insert(tree, tree.root.id, newLeaf({ tag: 'new', operator: 'has' }))
    expect(ruleOf(more).rule).toEqual({ all: [rule, { tag: 'new', operator: 'has' }] })
    expect(ruleOf(edit.remove(more, more.root.nodes[1]?.id ?? '')).rule).toEqual(rule)
    expect(ruleOf(edit.setGroup(tree, tree.root.id, { kind: 'any', nots: 1 })).rule).toEqual({ not: { any: [rule] } })
  })

  it('gives each node an id of its own', () => {
    fc.assert(
      fc.property(anyTree, ({ root }) => {
        const ids = nodesOf(root).map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('moves', () => {
  const anyMove = anyTree.chain((tree) => {
    const [, ...nodes] = nodesOf(tree.root)
    return fc.record({ tree: fc.constant(tree), node: fc.constantFrom(undefined, ...nodes) })
  })

  it('lose and double nothing, and each has its way back', () => {
    fc.assert(
      fc.property(anyMove, fc.constantFrom('up' as const, 'down' as const), ({ tree, node }, direction) => {
        if (node === undefined) return
        const moved = edit.move(tree, node.id, direction)
        expect(conditionsOf(moved.root).toSorted()).toEqual(conditionsOf(tree.root).toSorted())
        if (moved === tree) return
        expect(edit.move(moved, node.id, direction === 'up' ? 'down' : 'up')).toEqual(tree)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('lead everywhere: downwards to the end, and upwards to the first place', () => {
    fc.assert(
      fc.property(anyMove, ({ tree, node }) => {
        if (node === undefined) return
        let moved = tree
        for (let next = edit.move(moved, node.id, 'down'); next !== moved; next = edit.move(moved, node.id, 'down'))
          moved = next
        expect(moved.root.nodes.at(-1)?.id).toBe(node.id)
        for (let next = edit.move(moved, node.id, 'up'); next !== moved; next = edit.move(moved, node.id, 'up'))
          moved = next
        expect(moved.root.nodes[0]?.id).toBe(node.id)
      }),
      { numRuns: runs(300) },
    )
  })

  it('put a node where it was dropped, and no group into itself', () => {
    const inner = newGroup([newLeaf('c'), newLeaf('d')], 'any')
    const tree = { root: newGroup([newLeaf('a'), inner, newLeaf('b')]), isBare: false }
    const [a, , b] = tree.root.nodes.map(({ id }) => id) as [string, string, string]
    const after = (id: string, group: string, at: number) => ruleOf(edit.moveTo(tree, id, group, at)).rule
    expect(after(a, inner.id, 1)).toEqual({ all: [{ any: ['c', 'a', 'd'] }, 'b'] })
    expect(after(a, tree.root.id, 3)).toEqual({ all: [{ any: ['c', 'd'] }, 'b', 'a'] })
    expect(after(a, tree.root.id, 1)).toEqual(ruleOf(tree).rule)
    expect(after(b, tree.root.id, 0)).toEqual({ all: ['b', 'a', { any: ['c', 'd'] }] })
    expect(edit.moveTo(tree, inner.id, inner.id, 0)).toBe(tree)
    expect(edit.moveTo(tree, tree.root.id, inner.id, 0)).toBe(tree)
  })
})

describe('groups', () => {
  it('are made around a node, dissolved, and turned round', () => {
    const tree = treeOf({ all: ['a', 'b'] })
    const [a] = tree.root.nodes as [Node]
    const wrapped = edit.wrap(tree, a, 'any')
    expect(ruleOf(wrapped).rule).toEqual({ all: [{ any: ['a'] }, 'b'] })
    const [group] = wrapped.root.nodes as [Group]
    expect(ruleOf(edit.negate(wrapped, group)).rule).toEqual({ all: [{ not: { any: ['a'] } }, 'b'] })
    expect(edit.unwrap(wrapped, group)).toEqual(tree)
    const twice = treeOf({ all: [{ not: { not: { not: 'a' } } }] })
    expect(ruleOf(edit.negate(twice, twice.root.nodes[0] as Node)).rule).toEqual({ all: ['a'] })
  })

  it('know their level: every group and every not is one', () => {
    const tree = treeOf({ all: [{ not: { any: [{ all: [] }] } }] })
    const [outer] = tree.root.nodes as [Group]
    const [inner] = outer.nodes as [Group]
    expect([tree.root, outer, inner].map(({ id }) => edit.levelsAbove(tree, id))).toEqual([1, 3, 4])
  })
})

describe('issues', () => {
  it('stand at the innermost node of their path', () => {
    const tree = treeOf({ all: ['a', { not: { any: ['b', { not: 'c' }] } }] })
    const ids = ruleOf(tree).ids
    const [a, group] = tree.root.nodes as [Node, Group]
    const [, c] = group.nodes as [Node, Node]
    const paths = [
      'rule',
      'rule.all[0].operator',
      'rule.all[1].not.any',
      'rule.all[1].not.any[1].not.where[0].value',
      'name',
    ]
    const placed = placeIssues(
      paths.map((path) => ({ path, message: path })),
      ids,
    )
    expect([...placed].map(([id, issues]) => [id, issues.map(({ part }) => part)])).toEqual([
      [tree.root.id, ['']],
      [a.id, ['operator']],
      [group.id, ['any']],
      [c.id, ['where[0].value']],
    ])
    expect(placeIssues([{ path: 'rule.all[10]', message: '' }], ids).get(a.id)).toBeUndefined()
    const [issue] = placed.get(c.id) ?? []
    expect(issue && [isOf(issue, 'where[0]'), isOf(issue, 'where'), isOf(issue, 'value')]).toEqual([true, true, false])
  })

  it('stand at the condition when a rule has only one', () => {
    const tree = treeOf({ tag: 'a', operator: 'is' })
    const placed = placeIssues([{ path: 'rule.operator', message: 'rule.operator is not known' }], ruleOf(tree).ids)
    expect(placed.get(tree.root.nodes[0]?.id ?? '')).toMatchObject([{ part: 'operator', message: 'Is not known.' }])
  })
})

const TYPES: ValueType[] = ['date', 'number', 'text', 'boolean', 'stage', 'tag', 'segment']
const none = new Map<string, ValueType>()

describe('conditions', () => {
  it('begin with an operator of their type and a value to go on from', () => {
    const first = (start: Draft) => firstCondition(start, typeOf(start, new Map([['plan', 'text']])))
    expect(first({ event: 'purchase', metric: 'count' })).toEqual({
      event: 'purchase',
      metric: 'count',
      operator: 'greater_than_or_equal',
      value: 1,
    })
    expect(first({ event: 'purchase', metric: 'last' })).toMatchObject({ operator: 'within_days', value: 30 })
    expect(first({ customField: 'plan' })).toEqual({ customField: 'plan', operator: 'equals', value: '' })
    expect(first({ tag: 'vip' })).toEqual({ tag: 'vip', operator: 'has' })
    expect(first({ segment: 'x' })).toEqual({ segment: 'x', operator: 'is_member' })
    expect(first({ attribute: 'subscribed', channel: 'sms' })).toMatchObject({ channel: 'sms', operator: 'is_true' })
    expect(first({ attribute: 'subscribed', channel: 'sms', topic: 'news' })).toMatchObject({ topic: 'news' })
    expect(first({ tag: 'vip', operator: 'has_not' })).toEqual({ tag: 'vip', operator: 'has_not' })
  })

  it('have after each change of operator a value of its shape, and nothing that it does not know', () => {
    const anyType = fc.constantFrom(...TYPES)
    const steps = fc.array(fc.nat(20), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(anyType, steps, (type, chosen) => {
        let condition: Draft = firstCondition({ customField: 'x' }, type)
        for (const index of chosen) {
          const operators = operatorsOf(type, condition)
          const operator = operators[index % operators.length] ?? ''
          condition = withOperator(condition, type, type, operator)
          const shape = shapeOf(type, operator)
          expect(condition.operator).toBe(operator)
          expect('value' in condition).toBe(shape !== 'none')
          if (shape === 'range' || shape === 'texts' || shape === 'stages')
            expect(condition.value).toBeInstanceOf(Array)
        }
      }),
      { numRuns: runs(500) },
    )
  })

  it('keep what the next operator can use', () => {
    const change = (value: unknown, from: string, to: string, type: ValueType) =>
      withOperator({ customField: 'x', operator: from, value }, type, type, to).value
    expect(change('pro', 'equals', 'contains', 'text')).toBe('pro')
    expect(change('pro', 'equals', 'in', 'text')).toEqual(['pro'])
    expect(change(['pro', 'free'], 'in', 'equals', 'text')).toBe('pro')
    expect(change(3, 'equals', 'between', 'number')).toEqual([3, null])
    expect(change([3, 5], 'between', 'less_than', 'number')).toBe(3)
    expect(change(7, 'within_days', 'older_than_days', 'date')).toBe(7)
    expect(change(7, 'within_days', 'before', 'date')).toBe('')
    expect(
      withOperator({ customField: 'x', operator: 'equals', value: 'a', ignoreCase: true }, 'text', 'text', 'exists'),
    ).toEqual({
      customField: 'x',
      operator: 'exists',
    })
  })

  it('on a field that nobody has yet are of the type that their value says', () => {
    const type = (condition: Draft) => typeOf({ customField: 'x', ...condition }, none)
    expect(type({ operator: 'equals', value: '' })).toBe('text')
    expect(type({ operator: 'equals', value: null })).toBe('number')
    expect(type({ operator: 'equals', value: 4 })).toBe('number')
    expect(type({ operator: 'within_days', value: 4 })).toBe('date')
    expect(type({ operator: 'is_true' })).toBe('boolean')
    expect(type({ operator: 'in', value: [] })).toBe('text')
    expect(typeOf({ customField: 'x', operator: 'contains', value: '' }, new Map([['x', 'number']]))).toBe('number')
  })

  it('on an event lose, with a new metric, only what that one cannot have', () => {
    const count = { event: 'e', metric: 'count', operator: 'at_least', value: 2, withinDays: 30, where: [] }
    expect(withMetric(count, 'sum')).toEqual({ ...count, metric: 'sum', property: 'value' })
    expect(withMetric(withMetric(count, 'sum'), 'count')).toEqual(count)
    expect(withMetric(count, 'last')).toEqual({ event: 'e', metric: 'last', operator: 'within_days', value: 30 })
    expect(withMetric({ event: 'e', metric: 'last', operator: 'before', value: 'x' }, 'first')).toEqual({
      event: 'e',
      metric: 'first',
      operator: 'before',
      value: 'x',
    })
  })

  it('say what they still need', () => {
    const missing = (condition: Draft, type: ValueType) => missingParts(condition, type)
    expect(missing({ tag: 'vip', operator: 'has' }, 'tag')).toEqual([])
    expect(missing({ customField: 'x', operator: 'equals', value: '' }, 'text')).toEqual(['value'])
    expect(missing({ customField: 'x', operator: 'between', value: [1, null] }, 'number')).toEqual(['value'])
    expect(missing({ attribute: 'revenue', operator: 'between', value: [1, '2.50'] }, 'number')).toEqual([])
    expect(missing({ customField: 'x', operator: 'within_days', value: 0 }, 'date')).toEqual(['value'])
    const where = [
      { property: '', operator: 'exists' },
      { property: 'a', operator: 'equals', value: null },
    ]
    const sum = { event: 'e', metric: 'sum', property: '', operator: 'equals', value: 1, withinDays: null, where }
    expect(missing(sum, 'number')).toEqual(['property', 'withinDays', 'where[0].property', 'where[1].value'])
    expect(missing({ unknown: 1 }, 'text')).toEqual([])
  })
})

describe('the sentence', () => {
  const speaker = {
    words,
    fieldTypes: new Map<string, ValueType>([['plan', 'text']]),
    nameOfSegment: (id: string) => (id === 's1' ? 'Loyal' : undefined),
    formatNumber: String,
    formatTime: (at: Date) => at.toISOString().slice(0, 10),
  }
  const say = (rule: unknown) => plainText(describeNode(treeOf(rule).root, speaker)).replaceAll(/[\u2068\u2069]/g, '')
  const vip = { tag: 'vip', operator: 'has' }

  it.each<[unknown, string]>([
    [vip, 'has the tag vip'],
    [{ segment: 's1', operator: 'is_not_member' }, 'is not in the segment Loyal'],
    [{ segment: 's2', operator: 'is_member' }, 'is in the segment a deleted segment'],
    [{ attribute: 'subscribed', channel: 'sms', operator: 'is_false' }, 'does not accept SMS'],
    [{ attribute: 'subscribed', channel: 'sms', topic: 'news', operator: 'is_false' }, 'does not accept SMS news'],
    [{ attribute: 'country', operator: 'in', value: ['DE', 'AT'] }, 'Country is one of DE, AT'],
    [{ attribute: 'city', operator: 'in', value: 'abcdefg'.split('') }, 'City is one of a, b, c, d, e, 2 more'],
    [
      { attribute: 'revenue', currency: 'EUR', operator: 'between', value: ['1.50', 9] },
      'Revenue EUR is from 1.50 to 9',
    ],
    [{ customField: 'plan', operator: 'equals', value: 'Pro', ignoreCase: true }, 'plan is Pro (ignoring case)'],
    [{ customField: 'plan', operator: 'equals', value: '' }, 'plan is …'],
    [{ event: 'purchase', metric: 'last', operator: 'not_exists' }, 'purchase has never happened'],
    [
      { event: 'purchase', metric: 'last', operator: 'before', value: '2026-01-31T12:00:00Z' },
      'the last purchase is before 2026-01-31',
    ],
    [
      {
        event: 'purchase',
        metric: 'count',
        operator: 'greater_than',
        value: 2,
        withinDays: 90,
        where: [
          { property: 'category', operator: 'equals', value: 'shoes' },
          { property: 'price', operator: 'less_than', value: 50 },
        ],
      },
      'the number of purchase (with category is shoes and price is less than 50) within the last 90 days is more than 2',
    ],
    [
      {
        event: 'purchase',
        metric: 'sum',
        property: 'value',
        currency: 'EUR',
        operator: 'greater_than',
        value: 2,
        withinDays: 1,
      },
      'the sum of value of purchase EUR within the last 1 day is more than 2',
    ],
    [{ all: [vip, { any: [vip, vip] }] }, 'has the tag vip and (has the tag vip or has the tag vip)'],
    [{ all: [{ any: [vip, vip] }] }, 'has the tag vip or has the tag vip'],
    [{ any: [{ not: vip }, { not: { not: vip } }] }, 'not (has the tag vip) or has the tag vip'],
    [{ all: [vip, { not: { any: [vip, vip] } }] }, 'has the tag vip and not (has the tag vip or has the tag vip)'],
    [{ all: [vip, { any: [] }] }, 'has the tag vip and …'],
    [{ colour: 'red' }, '{"colour":"red"}'],
  ])('for %j is: %s', (rule, sentence) => {
    expect(say(rule)).toBe(sentence)
  })

  it('exists for everything that does not form a rule too', () => {
    fc.assert(
      fc.property(anyRule, (rule) => {
        expect(say(rule)).not.toBe('')
        for (const { condition } of edit.leavesOf(treeOf(rule).root)) {
          if (subjectOf(condition) !== undefined) missingParts(condition as Draft, typeOf(condition as Draft, none))
        }
      }),
      { numRuns: runs(1000) },
    )
    expect(say(ruleOf(emptyTree()).rule)).toBe('…')
  })
})
