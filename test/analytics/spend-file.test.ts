/** Spend in CSV files as spreadsheets and ad platforms write them. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_FILE_ROWS, MAX_REFUSED, readSpendFile } from '../../src/analytics/spend-file.ts'
import { MAX_CAMPAIGN, MAX_SOURCE, MAX_SPEND } from '../../src/analytics/spend-row.ts'
import { readColumns } from '../../src/imports/file-row.ts'
import { atLoad } from '../support/at-load.ts'
import { runs } from '../support/runs.ts'

const read = (text: string, defaults = {}) => readSpendFile(text, defaults, 'USD')
const HEAD = 'day,channel,source,campaign,amount,currency\n'
const amounts = (text: string, defaults = {}) => read(text, defaults).rows.map(({ amount }) => amount)
const refused = (text: string, defaults = {}) => read(text, defaults).refused

describe('columns', () => {
  it('are known by their names, in any order and case; others are left out', () => {
    const file = read(
      'Campaign name,UTM source,Clicks,Cost,Currency code,Channel,Date\nspring,google,7,1.50,eur,Paid Search,2026-02-28\n',
    )
    expect(file.columns).toEqual({
      day: 'Date',
      channel: 'Channel',
      source: 'UTM source',
      campaign: 'Campaign name',
      amount: 'Cost',
      currency: 'Currency code',
    })
    expect(file.rows).toEqual([
      {
        day: '2026-02-28',
        channel: 'paid_search',
        source: 'google',
        campaign: 'spring',
        currency: 'EUR',
        amount: '1.5',
      },
    ])
  })

  it.each(['day', 'date', 'Day', '  Date '])('"%s" holds the day', (name) => {
    expect(read(`${name},channel,spend\n2026-02-28,email,1\n`).read).toBe(1)
  })

  it('that the file lacks are the same in every row', () => {
    const [row] = read('date,spend\n2026-02-28,1\n', { channel: 'email', source: 'news', currency: 'eur' }).rows
    expect(row).toMatchObject({ channel: 'email', source: 'news', campaign: '', currency: 'EUR' })
    expect(read('date,channel,spend\n2026-02-28,sms,1\n', { channel: 'email' }).rows[0]).toMatchObject({
      channel: 'sms',
    })
    expect(read('date,channel,spend\n2026-02-28,,1\n', { channel: 'email' }).rows[0]).toMatchObject({
      channel: 'email',
    })
    expect(read('date,spend\n2026-02-28,1\n', { channel: 'email' }).rows[0]).toMatchObject({ currency: 'USD' })
    expect(refused('date,spend\n2026-02-28,1\n')).toMatchObject([
      { line: 2, error: expect.stringMatching(/^channel must/) as unknown },
    ])
  })

  it.each([
    ['clicks\n1\n', 'no column of these: day (day, date), amount (amount, spend, cost, amountspent)'],
    ['day\n1\n', 'no column of these: amount'],
    ['', 'no column of these: day'],
    ['day,spend,cost\n', 'The columns "spend" and "cost" both hold the amount'],
    ['day,spend,spend\n', 'two columns named "spend"'],
    ['day,amount\n"2026-02-28,1\n', 'cannot be read as CSV'],
    [`day,amount${',x'.repeat(199)}\n`, 'more than 200 columns'],
  ])('are refused: %j', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  it('are at most 200, and one more is refused whatever their names are', () => {
    const others = (count: number) => Array.from({ length: count }, (_, at) => `,c${at}`).join('')
    expect(read(`day,amount${others(198)}\n`).rows).toEqual([])
    expect(() => read(`day,amount${others(199)}\n`)).toThrow('more than 200 columns')
  })

  it('are compared at once, however many they are', () => {
    const names = Array.from({ length: 200_000 }, (_, at) => at.toString(36))
    const start = performance.now()
    expect(readColumns(names).length).toBe(names.length)
    expect(performance.now() - start).toBeLessThan(atLoad(2000))
    expect(() => readColumns([...names, ' 0 '])).toThrow('two columns named "0"')
  })
})

describe('cells', () => {
  it('may stand in quotes, with line breaks and separators, after a byte order mark', () => {
    const text = `\uFEFF${HEAD}2026-02-28,email,"a ""b"", c","two\nlines",1.5,\r\n2026-02-29,email,,,1,\r\n\r\n2026-02-27,email,,,x,\r\n`
    const file = read(text)
    expect(file.rows).toMatchObject([{ source: 'a "b", c', campaign: 'two\nlines', amount: '1.5' }])
    // The first row spans two lines, and empty lines count.
    expect(file.refused.map(({ line }) => line)).toEqual([4, 6])
    expect(file.refused[0]?.error).toMatch(/^day must be a date/)
    expect(file.refused[1]?.error).toMatch(/^amount must be a number/)
  })

  it('may all be empty, at the end of a file and of lines of any kind', () => {
    const file = read('day,channel,amount\r2026-02-28,email,1\r\r,,\r2026-02-27,sms,x\r')
    expect(file.read).toBe(1)
    expect(file.refused.map(({ line }) => line)).toEqual([5])
  })

  it.each([
    [',', '1.5'],
    [';', '1.5'],
    ['\t', '1.5'],
    ['|', '1.5'],
    [';', '1,5'],
  ])('stand between %j', (separator, amount) => {
    const lines = [
      ['day', 'channel', 'amount'],
      ['2026-02-28', 'email', amount],
    ]
    expect(amounts(lines.map((cells) => cells.join(separator)).join('\n'))).toEqual(['1.5'])
  })

  it.each([
    ['0', '0'],
    ['007.10', '7.1'],
    ['0.0001', '0.0001'],
    ['1000000000000', '1000000000000'],
    ['9007199254740.9931', undefined],
    ['1000000000000.0001', undefined],
    ['0.00001', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['€5', undefined],
    ['', undefined],
    ['"1,5"', undefined],
    ['"1,234.50"', undefined],
  ])('an amount of %j is %j', (sent, amount) => {
    expect(amounts(`day,channel,amount\n2026-02-28,email,${sent}\n`)).toEqual(amount === undefined ? [] : [amount])
  })

  it.each([
    ['1234,5', '1234.5'],
    ['1234,50', '1234.5'],
    ['0,1234', '0.1234'],
    ['1,234', undefined],
    ['1.234', undefined],
    ['1.234,50', undefined],
    ['1,2,3', undefined],
  ])('between semicolons, an amount of %j is %j', (sent, amount) => {
    expect(amounts(`day;channel;amount\n2026-02-28;email;${sent}\n`)).toEqual(amount === undefined ? [] : [amount])
  })

  it.each(['2026-02-29', '28.02.2026', '2026-2-8', '02/28/2026', '1899-12-31', '2300-01-01', ''])(
    '%j is not a day',
    (day) => {
      expect(refused(`day,channel,amount\n${day},email,1\n`)).toMatchObject([{ line: 2 }])
    },
  )

  it.each(['1900-01-01', '2024-02-29', '2299-12-31'])('%j is a day', (day) => {
    expect(read(`day,channel,amount\n${day},email,1\n`).rows).toMatchObject([{ day }])
  })

  it('are as long as a limit, and not longer', () => {
    const row = (source: number, campaign: number, currency: number) =>
      read(
        `${HEAD}2026-02-28,email,${'s'.repeat(source)},${'c'.repeat(campaign)},${MAX_SPEND},${'d'.repeat(currency)}\n`,
      )
    expect(row(MAX_SOURCE, MAX_CAMPAIGN, 8).read).toBe(1)
    expect(row(MAX_SOURCE + 1, 1, 3).refused[0]?.error).toBe('source must be a string of at most 256 characters')
    expect(row(1, MAX_CAMPAIGN + 1, 3).refused[0]?.error).toBe('campaign must be a string of at most 512 characters')
    expect(row(1, 1, 9).refused[0]?.error).toBe('currency must be a string of at most 8 characters')
  })

  it('are as many as the header has', () => {
    expect(refused(`${HEAD}2026-02-28,email,1\n`)).toMatchObject([
      { line: 2, error: 'the row has 3 cells, the header has 6', issues: [{ code: 'row_cells' }] },
    ])
  })
})

it('adds up rows of one day, channel, source, campaign and currency, exactly', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2), fc.nat(99_999)), { minLength: 1, maxLength: 50 }), (rows) => {
      const lines = rows.map(
        ([day, cents]) =>
          `2026-02-0${day + 1},email,a,b,${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')},USD`,
      )
      const file = read(`${HEAD}${lines.join('\n')}`)
      const sums = new Map<string, number>()
      for (const [day, cents] of rows) sums.set(`2026-02-0${day + 1}`, (sums.get(`2026-02-0${day + 1}`) ?? 0) + cents)
      expect(file.read).toBe(rows.length)
      expect(new Map(file.rows.map(({ day, amount }) => [day, Number(amount)]))).toEqual(
        new Map([...sums].map(([day, cents]) => [day, cents / 100])),
      )
    }),
    { numRuns: runs(200) },
  )
})

it('takes as many rows as its limit, and answers the first refused ones of any number', () => {
  const rows = (many: number, amount: string) => `day,channel,amount\n${`2026-02-28,email,${amount}\n`.repeat(many)}`
  expect(read(rows(MAX_FILE_ROWS, '1')).rows).toMatchObject([{ amount: String(MAX_FILE_ROWS) }])
  expect(() => read(rows(MAX_FILE_ROWS + 1, '1'))).toThrow('more than 20,000 rows')
  const file = read(rows(MAX_REFUSED + 1, 'x'))
  expect([file.refused.length, file.refusedCount, file.refused.at(-1)?.line]).toEqual([
    MAX_REFUSED,
    MAX_REFUSED + 1,
    MAX_REFUSED + 1,
  ])
})
