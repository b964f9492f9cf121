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
const amounts = async (text: string, defaults = {}) => (await read(text, defaults)).rows.map(({ amount }) => amount)
const refused = async (text: string, defaults = {}) => (await read(text, defaults)).refused

describe('columns', () => {
  it('are known by their names, in any order and case; others are left out', async () => {
    const file = await read(
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

  it.each(['day', 'date', 'Day', '  Date '])('"%s" holds the day', async (name) => {
    expect((await read(`${name},channel,spend\n2026-02-28,email,1\n`)).read).toBe(1)
  })

  it('that the file lacks are the same in every row', async () => {
    const [row] = (await read('date,spend\n2026-02-28,1\n', { channel: 'email', source: 'news', currency: 'eur' })).rows
    expect(row).toMatchObject({ channel: 'email', source: 'news', campaign: '', currency: 'EUR' })
    expect((await read('date,channel,spend\n2026-02-28,sms,1\n', { channel: 'email' })).rows[0]).toMatchObject({
      channel: 'sms',
    })
    expect((await read('date,channel,spend\n2026-02-28,,1\n', { channel: 'email' })).rows[0]).toMatchObject({
      channel: 'email',
    })
    expect((await read('date,spend\n2026-02-28,1\n', { channel: 'email' })).rows[0]).toMatchObject({ currency: 'USD' })
    expect(await refused('date,spend\n2026-02-28,1\n')).toMatchObject([
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
  ])('are refused: %j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  it('are at most 200, and one more is refused whatever their names are', async () => {
    const others = (count: number) => Array.from({ length: count }, (_, at) => `,c${at}`).join('')
    expect((await read(`day,amount${others(198)}\n`)).rows).toEqual([])
    await expect(read(`day,amount${others(199)}\n`)).rejects.toThrow('more than 200 columns')
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
  it('may stand in quotes, with line breaks and separators, after a byte order mark', async () => {
    const text = `\uFEFF${HEAD}2026-02-28,email,"a ""b"", c","two\nlines",1.5,\r\n2026-02-29,email,,,1,\r\n\r\n2026-02-27,email,,,x,\r\n`
    const file = await read(text)
    expect(file.rows).toMatchObject([{ source: 'a "b", c', campaign: 'two\nlines', amount: '1.5' }])
    // The first row spans two lines, and empty lines count.
    expect(file.refused.map(({ line }) => line)).toEqual([4, 6])
    expect(file.refused[0]?.error).toMatch(/^day must be a date/)
    expect(file.refused[1]?.error).toMatch(/^amount must be a number/)
  })

  it('may all be empty, at the end of a file and of lines of any kind', async () => {
    const file = await read('day,channel,amount\r2026-02-28,email,1\r\r,,\r2026-02-27,sms,x\r')
    expect(file.read).toBe(1)
    expect(file.refused.map(({ line }) => line)).toEqual([5])
  })

  it.each([
    [',', '1.5'],
    [';', '1.5'],
    ['\t', '1.5'],
    ['|', '1.5'],
    [';', '1,5'],
  ])('stand between %j', async (separator, amount) => {
    const lines = [
      ['day', 'channel', 'amount'],
      ['2026-02-28', 'email', amount],
    ]
    expect(await amounts(lines.map((cells) => cells.join(separator)).join('\n'))).toEqual(['1.5'])
  })

  it.each([
    ['0', '0'],
    ['1.234', undefined],
    ['12.500', undefined],
    ['0.125', '0.125'],
    ['1234.567', '1234.567'],
    ["'12.50", '12.5'],
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
  ])('an amount of %j is %j', async (sent, amount) => {
    expect(await amounts(`day,channel,amount\n2026-02-28,email,${sent}\n`)).toEqual(
      amount === undefined ? [] : [amount],
    )
  })

  it.each([
    ['1234,5', '1234.5'],
    ['1234,50', '1234.5'],
    ['0,1234', '0.1234'],
    ['1,234', undefined],
    ['1.234', undefined],
    ['1.234,50', undefined],
    ['1,2,3', undefined],
  ])('between semicolons, an amount of %j is %j', async (sent, amount) => {
    expect(await amounts(`day;channel;amount\n2026-02-28;email;${sent}\n`)).toEqual(
      amount === undefined ? [] : [amount],
    )
  })

  it('with three decimals are plain in a currency that has them', async () => {
    expect(await amounts('day,channel,amount,currency\n2026-02-28,email,1.234,kwd\n')).toEqual(['1.234'])
    expect((await readSpendFile('day,channel,amount\n2026-02-28,email,1.234\n', {}, 'TND')).rows).toMatchObject([
      { amount: '1.234' },
    ])
  })

  it.each(['2026-02-29', '28.02.2026', '2026-2-8', '02/28/2026', '1899-12-31', '2300-01-01', ''])(
    '%j is not a day',
    async (day) => {
      expect(await refused(`day,channel,amount\n${day},email,1\n`)).toMatchObject([{ line: 2 }])
    },
  )

  it.each(['1900-01-01', '2024-02-29', '2299-12-31'])('%j is a day', async (day) => {
    expect((await read(`day,channel,amount\n${day},email,1\n`)).rows).toMatchObject([{ day }])
  })

  it('are as long as a limit, and not longer', async () => {
    const row = (source: number, campaign: number, currency: number) =>
      read(
        `${HEAD}2026-02-28,email,${'s'.repeat(source)},${'c'.repeat(campaign)},${MAX_SPEND},${'d'.repeat(currency)}\n`,
      )
    expect((await row(MAX_SOURCE, MAX_CAMPAIGN, 8)).read).toBe(1)
    expect((await row(MAX_SOURCE + 1, 1, 3)).refused[0]?.error).toBe(
      'source must be a string of at most 256 characters',
    )
    expect((await row(1, MAX_CAMPAIGN + 1, 3)).refused[0]?.error).toBe(
      'campaign must be a string of at most 512 characters',
    )
    expect((await row(1, 1, 9)).refused[0]?.error).toBe('currency must be a string of at most 8 characters')
  })

  it('are as many as the header has, or fewer: the last ones are empty', async () => {
    expect(await refused(`${HEAD}2026-02-28,email,,,1,USD,\n`)).toMatchObject([
      { line: 2, error: 'the row has 7 cells, the header has 6', issues: [{ code: 'row_cells' }] },
    ])
    expect(await amounts(`${HEAD}2026-02-28,email,,,1\n`)).toEqual(['1'])
  })

  it('may follow a line that names the separator, and end their lines in two ways', async () => {
    const file = await read('sep=;\r\nday;channel;amount\r\n2026-02-28;email;1,5\n2026-02-28;email;1.234\n')
    expect(file.rows).toMatchObject([{ amount: '1.5' }])
    expect(file.refused).toMatchObject([{ line: 4, issues: [{ code: 'amount_two_ways' }] }])
  })
})

it('adds up rows of one day, channel, source, campaign and currency, exactly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(2), fc.nat(99_999)), { minLength: 1, maxLength: 50 }), async (rows) => {
      const lines = rows.map(
        ([day, cents]) =>
          `2026-02-0${day + 1},email,a,b,${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')},USD`,
      )
      const file = await read(`${HEAD}${lines.join('\n')}`)
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

it('takes as many rows as its limit, and answers the first refused ones of any number', async () => {
  const rows = (many: number, amount: string) => `day,channel,amount\n${`2026-02-28,email,${amount}\n`.repeat(many)}`
  expect((await read(rows(MAX_FILE_ROWS, '1'))).rows).toMatchObject([{ amount: String(MAX_FILE_ROWS) }])
  await expect(read(rows(MAX_FILE_ROWS + 1, '1'))).rejects.toThrow('more than 20,000 rows')
  const file = await read(rows(MAX_REFUSED + 1, 'x'))
  expect([file.refused.length, file.refusedCount, file.refused.at(-1)?.line]).toEqual([
    MAX_REFUSED,
    MAX_REFUSED + 1,
    MAX_REFUSED + 1,
  ])
})
