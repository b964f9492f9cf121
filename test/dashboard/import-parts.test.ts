/** How the page cuts a file into records, guesses columns, and writes cells for spreadsheets. */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { csvCell, csvText } from '../../src/dashboard/src/csv.ts'
import { guessMapping, mappingOf } from '../../src/dashboard/src/pages/imports/guess-mapping.ts'
import { joinRecords, splitRecords } from '../../src/dashboard/src/pages/imports/split-records.ts'
import { runs } from '../support/runs.ts'

it('cuts between records alone, wherever the text is cut', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', 'é'), maxLength: 6 })
  const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 3 }), { maxLength: 8 }), fc.nat(40), (rows, cut) => {
      const text = rows.map((cells) => `${cells.map(quoted).join(',')}\n`).join('')
      const splitter = splitRecords('csv')
      const records = [...splitter.push(text.slice(0, cut)), ...splitter.push(text.slice(cut)), splitter.end()]
      expect(records.join('')).toBe(text)
      expect(records.filter((record) => record !== '').map((record) => parse(record)[0])).toEqual(rows)
    }),
    { numRuns: runs(2000) },
  )
})

it('takes a quote in NDJSON for what it is', () => {
  const splitter = splitRecords('ndjson')
  expect(splitter.push('{"a":"\\""}\n{}')).toEqual(['{"a":"\\""}\n'])
  expect(splitter.end()).toBe('{}')
})

it('joins records up to both limits; one that is larger stands alone', async () => {
  async function* from(records: string[]) {
    yield* records
  }
  const join = (records: string[]) => Array.fromAsync(joinRecords(from(records), { records: 2, characters: 4 }))
  expect(await join(['a', 'b', 'c'])).toEqual(['ab', 'c'])
  expect(await join(['aa', 'bb', 'c'])).toEqual(['aabb', 'c'])
  expect(await join(['aaa', 'bb', 'ccccc', 'd'])).toEqual(['aaa', 'bb', 'ccccc', 'd'])
  expect(await join([])).toEqual([])
})

it('guesses each field at most once', () => {
  expect(guessMapping(['E-Mail', 'email', 'Order ID', 'Created at', 'Amount', 'plan'])).toEqual({
    'E-Mail': 'identity.email',
    email: '',
    'Order ID': 'idempotencyKey',
    'Created at': 'occurredAt',
    Amount: 'value',
    plan: '',
  })
  expect(
    mappingOf({ mail: 'identity.email', seats: 'trait:number', note: 'property', x: '' }, { event: 'e', type: ' ' }),
  ).toEqual([
    { field: 'identity.email', column: 'mail' },
    { field: 'traits.seats:number', column: 'seats' },
    { field: 'properties.note', column: 'note' },
    { field: 'event', value: 'e' },
  ])
})

it.each([
  ['=1+1', "'=1+1"],
  ['+49 30', "'+49 30"],
  ['-x', "'-x"],
  ['@a', "'@a"],
  ['\tx', "'\tx"],
  ['\rx', '"\'\rx"'],
  ['-12.5', '-12.5'],
  ['+3e2', '+3e2'],
  ['a,b', '"a,b"'],
  ['say "a"', '"say ""a"""'],
  [null, ''],
  [-7, '-7'],
])('writes the cell %j as %j', (value, written) => {
  expect(csvCell(value)).toBe(written)
})

it('writes what a CSV reader reads back', () => {
  expect(
    parse(
      csvText([
        ['row', 'error'],
        [1, 'a\n"b"'],
      ]),
      { bom: true },
    ),
  ).toEqual([
    ['row', 'error'],
    ['1', 'a\n"b"'],
  ])
})
