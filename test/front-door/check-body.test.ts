/** What a body is checked for, apart from the words of its faults. */
import { Type } from '@sinclair/typebox'
import { expect, it } from 'vitest'
import { compileCheck } from '../../src/front-door/http/check-body.ts'

const anything = Type.Record(Type.String(), Type.Unknown())
const check = compileCheck(
  Type.Object({
    free: Type.Optional(anything),
    few: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 2 })),
    numbers: Type.Optional(Type.Record(Type.String(), Type.Number())),
    inner: Type.Optional(Type.Object({ free: anything })),
  }),
)

it.each<[string, object, 'body' | 'issues']>([
  ['a record of anything', { free: { a: 1, b: [2], c: null } }, 'body'],
  ['a list instead of one', { free: [1] }, 'issues'],
  ['as many fields as allowed', { few: { a: 1, b: 2 } }, 'body'],
  ['one more', { few: { a: 1, b: 2, c: 3 } }, 'issues'],
  ['a record of numbers', { numbers: { a: 1 } }, 'body'],
  ['a text among numbers', { numbers: { a: 1, b: 'x' } }, 'issues'],
  ['a record in an object', { inner: { free: { a: {} } } }, 'body'],
  ['an object without its record', { inner: {} }, 'issues'],
])('%s', (_, sent, outcome) => {
  expect(check(sent)).toHaveProperty(outcome)
})
