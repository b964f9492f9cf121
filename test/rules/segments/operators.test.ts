/** The rows of operators. */
import { readFileSync } from 'node:fs'
import { expect, it, test } from 'vitest'
import { FIELD_TYPES, OPERATORS, TYPE_OF_FIELD, VALUE_TYPES } from '../../../src/rules/segments/grammar/operators.ts'

const page = readFileSync(new URL('../../../docs/segments.md', import.meta.url), 'utf8')
const ROWS = {
  date: 'a date',
  number: 'a number',
  text: 'a text',
  boolean: 'yes or no',
  stage: 'the stage',
  tag: 'a tag',
  segment: 'a segment',
}

test.each(VALUE_TYPES)('docs/segments.md names the operators of %s', (type) => {
  const [, named = ''] = new RegExp(`^\\| ${ROWS[type]} \\|(.*)\\|$`, 'm').exec(page) ?? []
  const operators = [...named.matchAll(/`([a-z_]+)`/g)].map(([, operator]) => operator)
  expect(new Set(operators)).toEqual(new Set(Object.keys(OPERATORS[type])))
})

it('has no operator that leaves open which type a custom field must have, but those that any type or the value decides', () => {
  const names = FIELD_TYPES.flatMap((type) => Object.keys(OPERATORS[TYPE_OF_FIELD[type]]))
  const shared = [...new Set(names.filter((name, place) => names.indexOf(name) !== place))]
  expect(shared.toSorted()).toEqual(['equals', 'exists', 'not_equals', 'not_exists'])
})
