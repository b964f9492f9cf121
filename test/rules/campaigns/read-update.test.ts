import { describe, expect, test } from 'vitest'
import { updateFacts } from '../../../src/rules/campaigns/update-facts.ts'
import type { UpdateStep } from '../../../src/rules/campaigns/steps.ts'
import { emptyWatchedFacts } from '../../../src/rules/segments/membership/watched-facts.ts'
import { definitionOf, faultsOf } from './read.ts'

const update = (fields: object) => ({ steps: [{ id: 'u', type: 'update', ...fields }] })
const tags = (many: number, length = 2) => Array.from({ length: many }, (_, n) => `${n}`.padStart(length, 't'))

describe('an update', () => {
  test('has tags, trimmed and once, and traits', () => {
    const traits = { plan: 'pro', seats: 5, vip: true, old: null }
    expect(definitionOf(update({ addTags: [' a ', 'a'], removeTags: ['b'], traits })).steps).toEqual([
      { id: 'u', type: 'update', addTags: ['a'], removeTags: ['b'], traits },
    ])
    expect(definitionOf(update({ addTags: ['a'], removeTags: null })).steps).toEqual([
      { id: 'u', type: 'update', addTags: ['a'], removeTags: [], traits: {} },
    ])
  })

  test('takes what the limits of a call allow', () => {
    const traits = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`f_${n}`, n === 0 ? 'x'.repeat(4096) : n]))
    expect(faultsOf(update({ addTags: tags(50, 64), removeTags: tags(50, 63), traits }))).toEqual([])
    expect(faultsOf(update({ traits: { ...traits, f_500: 1 } }))).toEqual([
      'steps[0].traits would be ignored in part: 1 trait was skipped: a call has at most 500',
    ])
  })

  test.each<[object, string]>([
    [{}, 'steps[0] must have at least one of addTags, removeTags and traits'],
    [{ addTags: [], traits: {} }, 'steps[0] must have at least one of addTags, removeTags and traits'],
    [{ addTags: 'vip' }, 'steps[0].addTags must be a list of tags'],
    [{ removeTags: [1] }, 'steps[0].removeTags must be a list of tags'],
    [{ addTags: tags(51) }, 'steps[0].addTags must be an array of at most 50 items'],
    [{ addTags: ['a', 'x'.repeat(65)] }, 'steps[0].addTags[1] must be 1 to 64 characters'],
    [{ addTags: ['a'], removeTags: ['b', ' a'] }, 'steps[0].removeTags has a tag that is in addTags, too'],
    [{ traits: ['a'] }, 'steps[0].traits must be an object of custom fields'],
    [{ traits: { plan: {} } }, 'steps[0].traits.plan must be a string, a finite number, a boolean or null'],
    [
      { traits: { Plan: 1 } },
      'steps[0].traits would be ignored in part: traits.Plan was skipped: a trait key is snake_case and at most 64 characters',
    ],
    [{ traits: { a: 1 }, profile: {} }, 'steps[0].profile does not belong there'],
  ])('%j is refused', (fields, message) => {
    expect(faultsOf(update(fields))).toEqual([message])
  })
})

test('what rules see after an update: its tags, and the traits that fit, newer than what was there', () => {
  const step: UpdateStep = {
    id: 'u',
    type: 'update',
    addTags: ['new', 'more'],
    removeTags: ['old'],
    traits: { plan: 'pro', seats: 5, gone: null, fresh: true },
  }
  const many = new Set(['old', ...tags(999, 5)])
  const traits = new Map([
    ['plan', [9, '"free"']],
    ['gone', [1, '1']],
  ] as const)
  const fields = new Map([
    ['plan', 'Text'],
    ['seats', 'Text'],
    ['gone', 'Number'],
  ] as const)
  const after = updateFacts(
    {
      ...emptyWatchedFacts(),
      tags: many,
      traits,
      profile: {},
      identities: [],
      subscriptions: {},
      topics: {},
      createdAt: 0,
    },
    step,
    { at: 5, fields },
  )
  expect(after.tags.size).toBe(1000)
  expect([after.tags.has('old'), after.tags.has('new'), after.tags.has('more')]).toEqual([false, true, false])
  expect([...after.traits]).toEqual([
    ['plan', [10, '"pro"']],
    ['gone', [5, null]],
    ['fresh', [5, 'true']],
  ])
})
