import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unitsAround } from '../../src/rules/segments/decimals.ts'
import type { ResolvedRule } from '../../src/rules/segments/rule.ts'
import { COMPILED_SETTINGS, compileToClickHouse } from '../../src/segments/compile-to-clickhouse.ts'
import { RUNS_ALL, runs } from '../support/runs.ts'
import { type Lab, addContact, newBusiness, openLab, save, shipAll } from '../timeline/lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(async () => {
  await lab?.close()
})

const NOW = Date.parse('2026-11-20T12:00:00Z')

async function select(businessId: string, rule: ResolvedRule): Promise<string[]> {
  const result = await lab.clickhouse.query({
    query: compileToClickHouse(rule, { businessId, fields: new Map(), now: NOW }),
    clickhouse_settings: COMPILED_SETTINGS,
    format: 'JSONEachRow',
  })
  return (await result.json<{ contact_id: string }>()).map(({ contact_id }) => contact_id)
}

describe('texts of callers', () => {
  const parts = [
    "'",
    '"',
    '\\',
    "\\'",
    "') or 1 or ('",
    '{x: String}',
    ';',
    '--',
    '/*',
    '\n',
    '`',
    '.',
    '%',
    '$1',
    '?',
    '😀',
    'é',
  ]
  const text = fc
    .oneof(
      fc.array(fc.constantFrom(...parts, 'a'), { minLength: 1, maxLength: 6 }).map((some) => some.join('')),
      fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
    )
    .filter((one) => one.isWellFormed() && !one.includes('\0') && one.trim() !== '')

  test('are compared as they are, in every place', async () => {
    await fc.assert(
      // The second contact has no part of the text.
      fc.asyncProperty(
        text.filter((one) => !'other'.includes(one)),
        async (one) => {
          const business = newBusiness()
          const [first, second] = [
            await addContact(lab, business, {
              firstName: one,
              tags: [one],
              traits: { note: [0, JSON.stringify(one)] },
            }),
            await addContact(lab, business, { firstName: 'other', tags: ['other'], traits: { note: [0, '"other"'] } }),
          ]
          const properties = JSON.stringify({ [one]: one, nested: { [one]: [one] } })
          await save(lab, business, [
            { contact_id: first, event: one, properties },
            { contact_id: second, event: 'other', properties: '{"nested":{"x":["y"]}}' },
          ])
          await shipAll(lab)
          const path = one.replaceAll('.', '\\.')
          const has = (property: string): ResolvedRule => ({
            event: one,
            metric: 'count',
            where: [{ property, operator: 'equals', value: one }],
            operator: 'exists',
          })
          const rules: ResolvedRule[] = [
            { attribute: 'firstName', operator: 'equals', value: one },
            { attribute: 'firstName', operator: 'in', value: [one, 'nobody'] },
            { tag: one, operator: 'has' },
            { customField: 'note', operator: 'contains', value: one },
            { event: one, metric: 'last', operator: 'exists' },
            // A backslash before a dot does not belong to a name.
            ...(/\\(\.|$)/.test(one) ? [] : [has(path), has(`nested.${path}.0`)]),
          ]
          for (const rule of rules) expect([rule, await select(business, rule)]).toEqual([rule, [first]])
        },
      ),
      { numRuns: runs(10) },
    )
  })
})

test('a thousand conditions with long lists are one query', async () => {
  const business = newBusiness()
  const contact = await addContact(lab, business, { firstName: 'x7' })
  await save(lab, business, [{ contact_id: contact, event: 'e3' }])
  await shipAll(lab)
  const texts = Array.from({ length: 500 }, (_, n) => `${'x'.repeat(50)}${n}`)
  // About the maximum number and size of conditions that a rule may have, including the segments that it names.
  const conditions = Array.from({ length: 334 }, (_, n): ResolvedRule[] => [
    { attribute: 'firstName', operator: 'in', value: n < 4 ? [...texts, `x${n}`] : [`x${n}`] },
    { event: `e${n}`, metric: 'count', operator: 'exists' },
    { customField: `f${n}`, operator: 'greater_than', value: n },
  ])
    .flat()
    .slice(0, 1000)
  const [first, rest] = [conditions.slice(0, 500), conditions.slice(500)]
  expect(await select(business, { any: [{ any: first }, { not: { all: rest } }] })).toEqual([contact])
  // Equally large. ClickHouse takes seconds to read either.
  if (RUNS_ALL) expect(await select(business, { all: conditions })).toEqual([])
})

test.each([
  ['1.5', 0, 1n, 2n],
  ['-1.5', 0, -2n, -1n],
  ['-0.0000001', 6, -1n, 0n],
  ['0.1', 6, 100_000n, 100_000n],
  [1e21, 2, 10n ** 23n, 10n ** 23n],
  [5e-324, 6, 0n, 1n],
] as const)('the units around %s with %d digits after the point', (decimal, scale, floor, ceil) => {
  expect(unitsAround(decimal, scale)).toEqual({ floor, ceil })
})
