/** Which events start a campaign (campaigns, "A campaign"). */
import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { type EventTrigger, compileTrigger, triggeringEvent } from '../../../src/rules/campaigns/event-trigger.ts'
import { readEventTrigger } from '../../../src/rules/campaigns/read-event-trigger.ts'
import { SOURCES } from '../../../src/rules/events/facts.ts'
import type { PropertyCondition } from '../../../src/rules/segments/rule.ts'
import { happened, propertyCondition } from '../../segments/event-world.ts'
import { type Happened, holds } from '../../segments/naive-windows.ts'
import { runs } from '../../support/runs.ts'

const read = (more: object) => readEventTrigger('paid', { event: 'paid', ...more })
const pathsOf = (more: object) => {
  const answer = read(more)
  return 'faults' in answer ? answer.faults.map(({ path }) => path) : []
}
const PLAN = { property: 'plan', operator: 'equals', value: 'pro' }

describe('a trigger by an event', () => {
  it.each<[string, object, EventTrigger]>([
    ['nothing else', {}, { event: 'paid' }],
    ['nulls', { where: null, sources: null }, { event: 'paid' }],
    ['no conditions', { where: [] }, { event: 'paid' }],
    ['sources', { sources: ['live'] }, { event: 'paid', sources: ['live'] }],
    [
      'conditions in any order of their words',
      {
        where: [
          { value: null, ignoreCase: null, operator: 'exists', property: 'a' },
          { ...PLAN, ignoreCase: false },
        ],
      },
      { event: 'paid', where: [{ property: 'a', operator: 'exists' }, PLAN as PropertyCondition] },
    ],
    [
      'a zero with a sign',
      { where: [{ property: 'value', operator: 'equals', value: -0 }] },
      { event: 'paid', where: [{ property: 'value', operator: 'equals', value: 0 }] },
    ],
  ])('is read with %s', (_, more, trigger) => {
    const answer = read(more)
    expect(answer).toEqual({ trigger })
    expect(readEventTrigger('paid', { ...trigger })).toEqual({ trigger })
  })

  it.each<[string, object, string[]]>([
    ['an operator that does not exist', { where: [{ ...PLAN, operator: 'is' }] }, ['trigger.where[0].operator']],
    ['an operator of dates', { where: [PLAN, { ...PLAN, operator: 'before' }] }, ['trigger.where[1].operator']],
    ['no value', { where: [{ property: 'a', operator: 'contains' }] }, ['trigger.where[0].value']],
    ['no property', { where: [{ operator: 'exists' }] }, ['trigger.where[0].property']],
    ['a text of value', { where: [{ ...PLAN, property: 'value' }] }, ['trigger.where[0].value']],
    ['a number of type', { where: [{ ...PLAN, property: 'type', value: 1 }] }, ['trigger.where[0].value']],
    ['another word', { where: [{ ...PLAN, and: 1 }] }, ['trigger.where[0].and']],
    ['no list', { where: PLAN }, ['trigger.where']],
    ['another field', { wheres: [PLAN] }, ['trigger.wheres']],
    ['a segment, too', { segment: 'x' }, ['trigger.segment']],
    ['other sources', { sources: ['browser'] }, ['trigger.sources']],
    ['a source twice', { sources: ['live', 'live'] }, ['trigger.sources']],
    ['no sources', { sources: [] }, ['trigger.sources']],
  ])('is refused with %s', (_, more, paths) => {
    expect(pathsOf(more)).toEqual(paths)
  })

  it('has at most 5 conditions, paths of 4,096 characters, lists of 500 and 32 KiB in all', () => {
    const many = (count: number) => ({ where: Array.from({ length: count }, () => PLAN) })
    expect(pathsOf(many(5))).toEqual([])
    expect(pathsOf(many(6))).toEqual(['trigger.where'])
    const path = (length: number) => ({ where: [{ ...PLAN, property: 'x'.repeat(length) }] })
    expect(pathsOf(path(4096))).toEqual([])
    expect(pathsOf(path(4097))).toEqual(['trigger.where[0].property'])
    const list = (length: number) => ({
      where: [{ ...PLAN, operator: 'in', value: Array(length).fill('a') as string[] }],
    })
    expect(pathsOf(list(500))).toEqual([])
    expect(pathsOf(list(501))).toEqual(['trigger.where[0].value'])
    const sized = (bytes: number) => {
      const values = [...(Array(8).fill('x'.repeat(4000)) as string[]), '']
      const where = [{ property: 'a', operator: 'in', value: values }]
      const room = bytes - JSON.stringify(where).length
      where[0]!.value[8] = 'x'.repeat(room)
      return { where }
    }
    expect(pathsOf(sized(32 * 1024))).toEqual([])
    expect(pathsOf(sized(32 * 1024 + 1))).toEqual(['trigger.where'])
  })
})

const seen = ({ properties, value, currency, type }: Happened, source: (typeof SOURCES)[number] = 'live') => {
  const json = properties === null ? null : JSON.stringify(properties)
  return triggeringEvent({ value, meaning: { currency, type }, properties: json }, source)
}

test('an event triggers when all conditions are true of it', () => {
  const property = fc.property(fc.array(propertyCondition, { maxLength: 5 }), happened, (where, event) => {
    const expected = where.every((condition) => holds(condition, event))
    expect(compileTrigger({ where })?.(seen(event))).toBe(expected)
  })
  fc.assert(property, { numRuns: runs(5000) })
})

test.each(SOURCES)('an event of the source %s triggers unless others are asked for', (source) => {
  const [event] = fc.sample(happened, 1)
  expect(compileTrigger({})).toBeNull()
  expect(compileTrigger({ where: [] })?.(seen(event!, source))).toBe(true)
  expect(compileTrigger({ sources: ['live'] })?.(seen(event!, source))).toBe(source === 'live')
})

test('names of what all objects have are no properties', () => {
  for (const property of ['constructor', '__proto__', 'toString.name', 'items.length', 'items.00', 'a.b.length']) {
    const fits = compileTrigger({ where: [{ property, operator: 'exists' }] })
    expect(fits?.(seen({ properties: { items: [1], a: { b: 'text' } } } as Happened))).toBe(false)
  }
})
