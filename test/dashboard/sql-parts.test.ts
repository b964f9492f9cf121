/** The parts of the SQL page that need no browser. */
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readExamples } from '../../src/dashboard/read-examples.ts'
import { fieldKindOf, parametersOf, valuesOf } from '../../src/dashboard/src/features/data/sql/parameters.ts'
import { chartOf } from '../../src/dashboard/src/features/data/sql/result-chart.ts'

it('the examples are those of the documentation, else: npm run build:dashboard', async () => {
  const at = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
  const markdown = await at('docs/analytics.md')
  const kept = await at('src/dashboard/src/features/data/sql/examples.json')
  expect(kept).toBe(readExamples(markdown))
  expect((JSON.parse(kept) as unknown[]).length).toBe(markdown.split('```sql').length - 1)
})

describe('parameters', () => {
  it.each([
    ['select 1', []],
    ['select {a: UInt8}, { b :Array(String) }, {a: UInt8}', ['a UInt8', 'b Array(String)']],
    ['where business_id = {business: UUID} and id = {id: UUID}', ['id UUID']],
    [`select '{a: String}', "{b: String}", \`{c: String}\`, 'it\\'s {d: String}'`, []],
    ['select 1 -- {a: String}\n/* {b: String}\n */ {c: Nullable(Date)}', ['c Nullable(Date)']],
    [`select {'a': 1}, map('x', 2)`, []],
  ])('are found in %s', (statement, found) => {
    expect(parametersOf(statement).map(({ name, type }) => `${name} ${type}`)).toEqual(found)
  })

  it('an empty field is an empty text, and no number', () => {
    const parameters = [
      { name: 'a', type: 'String' },
      { name: 'b', type: 'UInt8' },
      { name: 'c', type: 'UInt8' },
    ]
    expect(valuesOf(parameters, { c: '1', other: '2' })).toEqual({ a: '', c: '1' })
  })

  it('have fields of their kind', () => {
    expect(
      ['Date', 'Nullable(Date32)', 'UInt64', 'Nullable(Int8)', 'String', 'DateTime', 'Array(UInt8)'].map(fieldKindOf),
    ).toEqual(['date', 'date', 'number', 'number', 'text', 'text', 'text'])
  })
})

describe('a chart', () => {
  const result = (types: string[], rows: (string | null)[][]) => ({
    columns: types.map((type, index) => ({ name: `c${index}`, type })),
    rows,
    isCut: false,
    ms: 1,
  })

  it.each([[['String', 'UInt64']], [['Date', 'String']], [['Array(Date)', 'UInt64']]])(
    'is not drawn of %s',
    (types) => {
      expect(
        chartOf(
          result(types, [
            ['2026-01-01', '1'],
            ['2026-01-02', '2'],
          ]),
        ),
      ).toBeNull()
    },
  )

  it('is not drawn of one row', () => {
    expect(chartOf(result(['Date', 'UInt64'], [['2026-01-01', '1']]))).toBeNull()
  })

  it('has a line for each column of numbers, in the order of time', () => {
    const drawn = chartOf(
      result(
        ['Float64', "Nullable(DateTime64(3, 'UTC'))", 'LowCardinality(Nullable(UInt8))'],
        [
          ['2.5', '2026-01-02 00:00:00.000', null],
          ['1', '2026-01-01 00:00:00.000', '30'],
          ['9', null, '9'],
        ],
      ),
    )
    expect(drawn).toEqual({
      times: [Date.UTC(2026, 0, 1) / 1000, Date.UTC(2026, 0, 2) / 1000],
      starts: ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
      series: [
        { label: 'c2', values: [30, null] },
        { label: 'c0', values: [1, 2.5] },
      ],
      hasClock: true,
    })
  })

  it('has a line for each of the four largest texts', () => {
    const rows = ['a', 'b', 'c', 'd', 'e'].flatMap((text, index) => [
      ['2026-01-01', text, String(index)],
      ['2026-01-02', text, String(index)],
    ])
    const drawn = chartOf(result(['Date32', 'String', 'Decimal(38, 6)'], rows))
    expect(drawn?.series.map(({ label }) => label)).toEqual(['e', 'd', 'c', 'b'])
    expect(drawn?.series[0]?.values).toEqual([4, 4])
    expect(drawn?.hasClock).toBe(false)
  })
})
