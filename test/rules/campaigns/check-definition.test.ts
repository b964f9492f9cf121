import { describe, expect, test } from 'vitest'
import { checkDefinition } from '../../../src/rules/campaigns/check-definition.ts'
import type { FieldType } from '../../../src/rules/events/facts.ts'
import type { Rule } from '../../../src/rules/segments/rule.ts'
import { EXIT, RULE, SEND, WAIT, definitionOf } from './read.ts'

const rules = { fields: new Map(), segments: new Map<string, Rule>([['vips', { tag: 'vip', operator: 'has' }]]) }

function faultsOf(steps: unknown[], goalEvent: string | null = 'purchase'): string[] {
  return checkDefinition(definitionOf({ steps }), {
    goal: goalEvent === null ? null : { event: goalEvent },
    rules,
  }).map(({ message }) => message)
}
const waitFor = (event: string) => ({ type: 'wait_for', event, timeout: 'P1D' })
const branch = (steps: unknown[], otherwise: unknown[] = []) => ({ type: 'branch', rule: RULE, steps, otherwise })
const split = (...parts: unknown[][]) => ({
  type: 'split',
  parts: parts.map((steps) => ({ percent: 100 / parts.length, steps })),
})

describe('steps that cannot be reached', () => {
  test('follow an exit, or a step of which each way ends in one', () => {
    const unreachable = ['steps[1] cannot be reached: steps[0] always ends the enrolment']
    expect(faultsOf([EXIT, SEND])).toEqual(unreachable)
    expect(faultsOf([branch([EXIT], [WAIT, EXIT]), SEND, SEND])).toEqual(unreachable)
    expect(faultsOf([split([EXIT], [branch([EXIT], [EXIT])]), SEND])).toEqual(unreachable)
    expect(faultsOf([{ ...waitFor('visit'), steps: [EXIT], otherwise: [EXIT] }, SEND])).toEqual(unreachable)
  })

  test('are found in inner lists', () => {
    expect(faultsOf([split([WAIT], [branch([], [EXIT, WAIT])])])).toEqual([
      'steps[0].parts[1].steps[0].otherwise[1] cannot be reached: steps[0].parts[1].steps[0].otherwise[0] always ends the enrolment',
    ])
  })

  test('are none where one way goes on', () => {
    expect(faultsOf([branch([EXIT]), split([EXIT], []), { ...waitFor('visit'), steps: [EXIT] }, SEND, EXIT])).toEqual(
      [],
    )
  })
})

test('the goal cannot be waited for', () => {
  expect(faultsOf([branch([waitFor('purchase')]), waitFor('visit')])).toEqual([
    'steps[0].steps[0].event must differ from goal.event, which ends the enrolment, or both must have where',
  ])
  expect(faultsOf([waitFor('purchase')], null)).toEqual([])
})

test('the traits of updates fit the fields that there are, of which there can be 500', () => {
  const update = { type: 'update', traits: { plan: 1, fresh: 'x', seats: null } }
  const fields = new Map<string, FieldType>([['plan', 'Text']])
  const check = (more: number) => {
    for (let no = 0; no < more; no++) fields.set(`f_${no}`, 'Number')
    const context = { goal: null, rules: { ...rules, fields } }
    return checkDefinition(definitionOf({ steps: [branch([update])] }), context).map(({ message }) => message)
  }
  const wrong = 'steps[0].steps[0].traits.plan must be of type Text'
  expect(check(498)).toEqual([wrong])
  expect(check(499)).toEqual([
    wrong,
    'steps[0].steps[0].traits.fresh is new: the business has 500 custom fields already',
  ])
})

test('the segments of rules exist', () => {
  const on = (segment: string) => ({ type: 'branch', rule: { not: { segment, operator: 'is_member' } } })
  expect(faultsOf([on('vips'), on('gone')])).toEqual(['steps[1].rule.not.segment is not a segment'])
})

test('there are at most 20 faults', () => {
  expect(faultsOf(Array.from({ length: 30 }, () => waitFor('purchase')))).toHaveLength(20)
})
