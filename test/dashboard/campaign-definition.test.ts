/** A campaign as the form edits it: only what the person edits changes, and no step is lost. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Json,
  duplicateStep,
  editedFieldsOf,
  getAt,
  insertStep,
  listAt,
  listsOf,
  moveStep,
  newCampaign,
  newStep,
  placeOf,
  removeStep,
  setAt,
} from '../../src/dashboard/src/features/campaigns/edit/definition.ts'
import { readDefinition } from '../../src/rules/campaigns/read-definition.ts'
import { STEP_TYPES } from '../../src/rules/campaigns/steps.ts'
import { numberOf } from '../../src/rules/campaigns/step-number.ts'
import { type Unit, readAmount, writeAmount } from '../../src/dashboard/src/features/campaigns/edit/duration.ts'
import { runs } from '../support/runs.ts'

const id = fc.string({ minLength: 1, maxLength: 5 })
/** Includes steps whose types or fields the form does not know, and values that are not steps. */
const { step: anyStep } = fc.letrec<{ step: unknown; steps: unknown[] }>((tie) => ({
  steps: fc.array(tie('step'), { maxLength: 3 }),
  step: fc.oneof(
    { maxDepth: 3 },
    fc.record({ id, type: fc.constantFrom('wait', 'exit', 'later'), for: fc.jsonValue({ maxDepth: 1 }) }),
    fc.constantFrom(null, 7, 'text'),
    fc.record({
      id,
      type: fc.constantFrom('wait_for', 'branch', 'unheard-of'),
      steps: tie('steps'),
      otherwise: tie('steps'),
      more: fc.jsonValue({ maxDepth: 1 }),
    }),
    fc.record({
      id,
      type: fc.constant('split'),
      parts: fc.array(fc.record({ percent: fc.nat(), steps: tie('steps') })),
    }),
  ),
}))
const anyCampaign = fc
  .record({ name: fc.string(), steps: fc.array(anyStep, { maxLength: 4 }), later: fc.jsonValue({ maxDepth: 1 }) })
  .map((value): Json => ({ ...value }))

const pathsIn = (value: Json, list = 'steps'): string[] =>
  listAt(value, list).flatMap((step, at) => {
    const path = `${list}[${at}]`
    return [path, ...listsOf(step).flatMap((inner) => pathsIn(value, `${path}.${inner}`))]
  })

/** All steps without their inner steps, in any order. */
const stepsOf = (value: Json): string[] =>
  pathsIn(value)
    .map((path) => {
      const step = getAt(value, path)
      return JSON.stringify(listsOf(step).reduce((bare, list) => setAt(bare, list, []), step as Json) ?? null)
    })
    .toSorted()

const anyPlace = anyCampaign.chain((value) => {
  const paths = pathsIn(value)
  return fc.record({ value: fc.constant(value), path: paths.length > 0 ? fc.constantFrom(...paths) : fc.constant('') })
})

describe('moving a step', () => {
  it('loses none and makes none, and leads back', () => {
    fc.assert(
      fc.property(anyPlace, fc.constantFrom('up', 'down'), ({ value, path }, direction) => {
        fc.pre(path !== '')
        const moved = moveStep(value, path, direction)
        expect(stepsOf(moved.value)).toEqual(stepsOf(value))
        expect(getAt(moved.value, moved.path)).toEqual(getAt(value, path))
        if (moved.path === path) return
        const back = moveStep(moved.value, moved.path, direction === 'up' ? 'down' : 'up')
        expect(back).toEqual({ value, path })
      }),
      { numRuns: runs(500) },
    )
  })

  const wait = (name: string) => ({ type: 'wait', for: name })
  const value = {
    steps: [
      wait('a'),
      { type: 'branch', rule: {}, steps: [wait('b')], otherwise: [] },
      { type: 'split', parts: [{ percent: 40, steps: [] }, { percent: 60 }] },
    ],
  }
  const namesOf = (all: Json) =>
    pathsIn(all).flatMap((path) => {
      const name = getAt(all, `${path}.for`)
      return typeof name === 'string' ? [`${name} ${path}`] : []
    })

  it('goes into the lists of the next step, from one to the other, and out of them', () => {
    const places: string[] = []
    for (let at = { value: value as Json, path: 'steps[0]' }, before = ''; at.path !== before || places.length < 2;) {
      before = at.path
      places.push(at.path)
      at = moveStep(at.value, at.path, 'down')
      if (places.length > 12) break
    }
    expect([...new Set(places)]).toEqual([
      'steps[0]',
      'steps[0].steps[0]',
      'steps[0].steps[1]',
      'steps[0].otherwise[0]',
      'steps[1]',
      'steps[1].parts[0].steps[0]',
      'steps[1].parts[1].steps[0]',
      'steps[2]',
    ])
  })

  it('stays where there is no further place', () => {
    expect(moveStep(value, 'steps[0]', 'up')).toEqual({ value, path: 'steps[0]' })
    expect(moveStep(value, 'steps[2]', 'down')).toEqual({ value, path: 'steps[2]' })
    expect(namesOf(moveStep(value, 'steps[1].steps[0]', 'up').value)).toEqual(['a steps[0]', 'b steps[1]'])
  })
})

it('adding and taking away leaves all others as they were', () => {
  fc.assert(
    fc.property(anyPlace, fc.constantFrom(...STEP_TYPES), ({ value, path }, type) => {
      fc.pre(path !== '')
      expect(removeStep(insertStep(value, placeOf(path), newStep(type)), path)).toEqual(value)
      const { list, at } = placeOf(path)
      const twice = duplicateStep(value, path)
      expect(removeStep(twice, `${list}[${at + 1}]`)).toEqual(value)
      const copies = pathsIn(twice).filter((one) => one.startsWith(`${list}[${at + 1}]`))
      for (const copy of copies) expect(getAt(twice, `${copy}.id`)).toBe(undefined)
    }),
    { numRuns: runs(250) },
  )
})

it('setting a field again to what it is changes nothing', () => {
  fc.assert(
    fc.property(anyPlace, ({ value, path }) => {
      fc.pre(path !== '')
      expect(setAt(value, path, getAt(value, path))).toEqual(value)
      expect(JSON.stringify(setAt(value, path, getAt(value, path)))).toBe(JSON.stringify(value))
    }),
    { numRuns: runs(250) },
  )
})

it('a field is added, changed and taken away by its path', () => {
  expect(setAt({}, 'a.b[0].c', 1)).toEqual({ a: { b: [{ c: 1 }] } })
  expect(setAt({ a: { b: [1, 2, 3] } }, 'a.b[1]', undefined)).toEqual({ a: { b: [1, 3] } })
  expect(setAt({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 })
  expect(setAt({ a: 'text' }, 'a.b', 1)).toEqual({ a: { b: 1 } })
  expect(setAt({ quietHours: { from: '21:00' } }, 'quietHours', null)).toEqual({ quietHours: null })
  expect(getAt({ a: 'text' }, 'a.b.c')).toBe(undefined)
})

it('what is edited is what a change may name, with all that the form does not know', () => {
  const fields = {
    name: 'x',
    trigger: { web: 'page_view' as const },
    canEnterAgain: false,
    enrolPer: 'contact' as const,
    whileActive: 'ignore' as const,
    goal: null,
    steps: [{ id: 'a', type: 'exit' as const }],
    caps: [],
    holdOut: 0,
    tracking: { opens: false, clicks: true },
    later: 'of a later version',
  }
  expect(editedFieldsOf({ campaignId: '1', status: 'draft', version: 3, ...fields })).toEqual(fields)
  expect(newCampaign()).toEqual({ name: '', trigger: { event: '' }, steps: [] })
})

it('a new step needs no more than what the person has to say', () => {
  const context = { fields: new Map(), newId: () => 'new' }
  const faults = STEP_TYPES.flatMap((type) => {
    const read = readDefinition({ steps: [newStep(type)] }, context)
    return 'faults' in read ? read.faults.map(({ path, code }) => `${type} ${path} ${code}`) : []
  })
  expect(faults).toEqual([
    'send steps[0].template template_id',
    'wait_for steps[0].event characters',
    'branch steps[0].rule.all group',
    'update steps[0] an_update',
  ])
})

it('steps are numbered by their place', () => {
  expect(numberOf('steps[0]')).toBe('1')
  expect(numberOf('steps[0].otherwise[1]')).toBe('1b.2')
  expect(numberOf('steps[2].parts[1].steps[0].steps[4]')).toBe('3b.1a.5')
  expect([25, 26, 51, 52, 99].map((part) => numberOf(`steps[0].parts[${part}].steps[0]`))).toEqual([
    '1z.1',
    '1aa.1',
    '1az.1',
    '1ba.1',
    '1cv.1',
  ])
})

describe('a duration', () => {
  it.each([
    ['PT90M', '90', 'minutes'],
    ['PT1.5H', '1.5', 'hours'],
    ['P3D', '3', 'days'],
    ['P2W', '2', 'weeks'],
    ['PD', '', 'days'],
  ])('%s is of one unit', (text, amount, unit) => {
    expect(readAmount(text)).toEqual({ amount, unit })
    expect(writeAmount(amount, unit as Unit)).toBe(text)
  })

  it.each(['P1DT12H', 'P1M', 'PT30S', '', 'tomorrow', 'P-1D', 7, undefined])('%s is not', (text) => {
    expect(readAmount(text)).toBe(undefined)
  })
})
