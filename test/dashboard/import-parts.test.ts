/** How the page divides a file into records, guesses columns, and writes cells for spreadsheets. */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvCell, csvText } from '../../src/dashboard/src/csv.ts'
import { refusedFile } from '../../src/dashboard/src/features/data/imports/refused-file.ts'
import { type Fault, MAX_FAULTS, addFaults, noFaults } from '../../src/dashboard/src/features/data/imports/faults.ts'
import { guessMapping, mappingOf } from '../../src/dashboard/src/features/data/imports/guess-mapping.ts'
import { joinRecords, splitRecords } from '../../src/dashboard/src/features/data/imports/split-records.ts'
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

it('ends records of files with carriage returns alone with a line feed, as the server reads them', () => {
  const splitter = splitRecords('csv', '\r')
  expect([...splitter.push('a,b\r1,"x\ry"\r'), ...splitter.push('2,z\r')]).toEqual(['a,b\n', '1,"x\ry"\n', '2,z\n'])
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

it.each<[string[], string | undefined]>([
  [['Name', 'Email', 'Id', 'Total', 'Created at', 'Lineitem quantity', 'Lineitem name'], 'Name'],
  [['id', 'Created date (UTC)', 'Amount', 'Currency', 'Customer Email'], 'id'],
  [['Order ID', 'Id', 'Name', 'Total', 'Lineitem name'], 'Order ID'],
  // Of people, products or anything else, so not a key.
  [['id', 'email', 'total', 'date'], undefined],
  [['Id', 'Name', 'Price', 'Currency'], undefined],
  [['id', 'Created date', 'Amount', 'Currency'], undefined],
  [['Id', 'Name', 'Email'], undefined],
  [['', 'email', ''], undefined],
])('guesses which of %j identifies an event: %s', (columns, key) => {
  const guessed = Object.entries(guessMapping(columns))
  expect(guessed.filter(([, field]) => field === 'idempotencyKey').map(([column]) => column)).toEqual(
    key === undefined ? [] : [key],
  )
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

describe('the file of refused rows', () => {
  const fault = (source: string[], error: string, eventKey: string | null = null): Fault => ({
    row: 1,
    error,
    source,
    eventKey,
  })
  const orders = { file: { name: 'orders.csv' }, format: 'csv', columns: ['mail', 'when', 'sum'] } as const
  const mapping = [
    { field: 'identity.email', column: 'mail' },
    { field: 'event', value: 'order' },
  ]
  const rowsOf = (text: string) => parse(text, { bom: true, relax_column_count: true })

  it('has the cells of each row, and why it was refused; no cell is a formula', () => {
    const faults = [
      fault(['ann@x.io', '2026-02-31', '=1+1'], '@occurredAt'),
      fault(['a"b', 'x'], 'the row has 2 cells'),
      fault(['', '', '-5'], 'identity'),
    ]
    const { name, text } = refusedFile(orders, { mapping }, faults)
    expect(name).toBe('orders-refused.csv')
    expect(rowsOf(text)).toEqual([
      ['error', 'mail', 'when', 'sum'],
      ["'@occurredAt", 'ann@x.io', '2026-02-31', "'=1+1"],
      ['the row has 2 cells', 'a"b', 'x'],
      ['identity', '', '', '-5'],
    ])
  })

  it('is read like the first one, which keeps its errors out, and they are replaced when it is refused again', () => {
    const again = { ...orders, file: { name: 'orders-refused.csv' }, columns: ['error', 'mail', 'when', 'sum'] }
    expect(guessMapping(again.columns)['error']).toBe('')
    const { name, text } = refusedFile(again, { mapping }, [fault(['old', 'ann@x.io', 'x', '1'], 'new')])
    expect(name).toBe('orders-refused.csv')
    expect(rowsOf(text)).toEqual([
      ['error', 'mail', 'when', 'sum'],
      ['new', 'ann@x.io', 'x', '1'],
    ])
    const theirs = { ...orders, columns: ['error', 'mail'] }
    const used = [...mapping, { field: 'properties.error', column: 'error' }]
    expect(rowsOf(refusedFile(theirs, { mapping: used }, [fault(['E1', 'a'], 'why')]).text)).toEqual([
      ['error 2', 'error', 'mail'],
      ['why', 'E1', 'a'],
    ])
  })

  it('names the event of a row that is recorded: only its opt-in is imported again', () => {
    const faults = [fault(['a', 'b', 'c'], 'opt-in: no', 'import:k:1'), fault(['d', 'e', 'f'], 'value')]
    const rows = rowsOf(refusedFile(orders, { mapping }, faults).text)
    expect(rows).toEqual([
      ['error', 'idempotencyKey', 'mail', 'when', 'sum'],
      ['opt-in: no', 'import:k:1', 'a', 'b', 'c'],
      ['value', '', 'd', 'e', 'f'],
    ])
    expect(guessMapping(rows[0] ?? [])['idempotencyKey']).toBe('idempotencyKey')
    const ownKeys = [...mapping, { field: 'idempotencyKey', column: 'when' }]
    expect(rowsOf(refusedFile(orders, { mapping: ownKeys }, faults).text)[0]).toEqual(['error', 'mail', 'when', 'sum'])
  })

  it('is NDJSON for NDJSON', () => {
    const events = { file: { name: 'events.ndjson' }, format: 'ndjson', columns: [] } as const
    const faults = [
      fault(['{"event":"x","error":"old"}'], 'identity'),
      fault(['{"event":"y"}'], 'opt-in: no', 'import:k:1'),
      fault(['[1]'], 'the line is not a JSON object'),
    ]
    expect(refusedFile(events, { mapping: [] }, faults)).toEqual({
      name: 'events-refused.ndjson',
      text: '{"event":"x","error":"identity"}\n{"idempotencyKey":"import:k:1","event":"y","error":"opt-in: no"}\n[1]\n',
    })
  })

  it('has 10,000 rows and no more, all of the first ones', () => {
    const kept = noFaults()
    const one = fault(['a'], 'why')
    addFaults(kept, Array<Fault>(MAX_FAULTS).fill(one))
    expect([kept.faults.length, kept.faultCount]).toEqual([10_000, 10_000])
    addFaults(kept, [one])
    expect([kept.faults.length, kept.faultCount]).toEqual([10_000, 10_001])
    const large = noFaults()
    const megabyte = fault(['x'.repeat(1024 * 1024)], 'why')
    addFaults(large, [...Array<Fault>(50).fill(megabyte), one, megabyte])
    expect([large.faults.length, large.faultCount]).toEqual([50, 52])
  })
})
