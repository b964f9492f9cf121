/** How rows become events, and the keys that make an import safe to repeat. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createNumbering, surveyRows } from '../../src/admin/import/number-rows.ts'
import { hashRow, keyOf } from '../../src/imports/row-keys.ts'
import { checkMapping, mapRow, readMapping } from '../../src/imports/map-row.ts'
import { describeSource, readRows } from '../../src/admin/import/read-rows.ts'
import type { FileRow } from '../../src/imports/file-row.ts'
import { prepareRow } from '../../src/imports/prepare-row.ts'
import { MAX_CELL, MAX_COLUMNS, MAX_RECORD } from '../../src/imports/read-csv.ts'
import { report } from '../../src/admin/import/report.ts'
import { addWarnings, noWarnings } from '../../src/admin/import/warnings.ts'

const directory = mkdtempSync(join(tmpdir(), 'sluice-import-'))
afterAll(() => rmSync(directory, { recursive: true }))

async function readFileRows(name: string, content: string): Promise<FileRow[]> {
  const file = join(directory, name)
  writeFileSync(file, content)
  return Array.fromAsync(readRows(describeSource(file)))
}

const map = (maps: string[], sets: string[], values: Record<string, unknown>, timezone = 'UTC') => {
  const mapped = mapRow(readMapping(maps, sets, timezone), values)
  return 'event' in mapped ? mapped.event : { fault: mapped.fault.message }
}

describe('reading', () => {
  // Looks like a file, but every read of it fails.
  test.each(['csv', 'ndjson'])(
    'a %s file that cannot be read to its end is reported with a message',
    async (format) => {
      const rows = Array.fromAsync(readRows(describeSource('/proc/self/mem', format)))
      await expect(rows).rejects.toMatchObject({ name: 'CommandError', code: 'unreadable_file' })
    },
  )

  test('a CSV file with a byte order mark, quotes, line breaks and blank lines', async () => {
    const rows = await readFileRows('a.csv', '\uFEFFid,note\r\n1,"a ""b"",\nc"\r\n\r\n2,\r\n')
    expect(rows).toEqual([
      { number: 1, values: { id: '1', note: 'a "b",\nc' } },
      { number: 2, values: { id: '2', note: '' } },
    ])
  })

  test('a row with more cells carries its fault, one with fewer ends with empty ones, and its neighbours are read', async () => {
    const rows = await readFileRows('b.csv', 'id,note\n1,a\n2\n3,c,d\n4,e\n')
    expect(rows.map((row) => ('fault' in row ? row.fault.message : row.values))).toEqual([
      { id: '1', note: 'a' },
      { id: '2', note: '' },
      'the row has 3 cells, the header has 2',
      { id: '4', note: 'e' },
    ])
    expect(hashRow(rows[1]!)).toBe(hashRow((await readFileRows('b2.csv', 'id,note\n2,\n'))[0]!))
  })

  test('columns without a name are left out', async () => {
    const rows = await readFileRows(
      'u.csv',
      'email,date,note,, \na@b.example,2024-01-15,hi,,\nb@b.example,2024-01-16,x\n',
    )
    expect(rows.map((row) => 'values' in row && row.values['note'])).toEqual(['hi', 'x'])
    expect(() => checkMapping(readMapping(['email=nope'], ['event=x'], 'UTC'), ['email', '', ''])).toThrow(
      'The columns are email. ',
    )
  })

  test.each([
    ['LF after a header with CRLF', 'id,note\r\n1,a\n2,b\n'],
    ['CRLF after a header with LF', 'id,note\n1,a\r\n2,b\r\n'],
    ['CR alone', 'id,note\r1,a\r2,b\r'],
    ['a first line that names the delimiter', 'sep=;\r\nid;note\r\n1;a\r\n2;b\r\n'],
    ['such a line in quotes, after a byte order mark', '\uFEFF"sep=|"\nid|note\n1|a\n2|b'],
    ['a tab named so', 'SEP=\t\nid\tnote\n1\ta\n2\tb'],
  ])('line ends of any kind: %s', async (_what, content) => {
    expect(await readFileRows('l.csv', content)).toEqual([
      { number: 1, values: { id: '1', note: 'a' } },
      { number: 2, values: { id: '2', note: 'b' } },
    ])
  })

  test('a delimiter that is given wins over that of the first line, and only the first line names one', async () => {
    writeFileSync(join(directory, 's.csv'), 'sep=;\nid,note\n1,a;b\nsep=|,x\n')
    expect(await Array.fromAsync(readRows(describeSource(join(directory, 's.csv'), undefined, ',')))).toEqual([
      { number: 1, values: { id: '1', note: 'a;b' } },
      { number: 2, values: { id: 'sep=|', note: 'x' } },
    ])
  })

  test('a carriage return in a file with LF is part of its cell', async () => {
    expect(await readFileRows('cr.csv', 'id,note\n1,a\rb\n')).toEqual([
      { number: 1, values: { id: '1', note: 'a\rb' } },
    ])
  })

  test('a record up to each limit, and none that is longer', async () => {
    const read = async (header: string, row: string) =>
      (await readFileRows('max.csv', `${header}\na,b\n${row}\n`)).map((one) => 'values' in one)
    expect(await read('a,b', `"${'x'.repeat(MAX_CELL)}",b`)).toEqual([true, true])
    await expect(read('a,b', `"${'x'.repeat(MAX_CELL + 1)}",b`)).rejects.toThrow(
      /^A cell of row 2 has more than 131,?072/,
    )
    const wide = (columns: number) => Array.from({ length: columns }, (_, at) => `c${at}`).join(',')
    expect(await read(wide(MAX_COLUMNS), wide(MAX_COLUMNS))).toEqual([true, true])
    await expect(read(wide(MAX_COLUMNS + 1), 'a')).rejects.toThrow(/^Row 0 has more than 1,?000 cells/)
    await expect(read('a,b', ','.repeat(MAX_COLUMNS))).rejects.toThrow(/^Row 2 has more than 1,?000 cells/)
    const cells = Array.from({ length: 8 }, () => 'x'.repeat(MAX_CELL - 1)).join(',')
    expect(cells.length).toBe(MAX_RECORD - 1)
    expect(await read(wide(8), `${cells}x`)).toEqual([true, true])
    await expect(read(wide(8), `${cells}xx`)).rejects.toThrow(/^Row 2 has more than 1,?048,?576 characters/)
    await expect(read('a,b', `"${'x\n'.repeat(MAX_CELL)}`)).rejects.toThrow('Perhaps a quotation mark is missing')
  })

  test('an NDJSON file, with lines that are not objects', async () => {
    const rows = await readFileRows('c.ndjson', '{"id":1}\n\n[2]\n{"id":\n{"id":{"deep":true}}')
    expect(rows).toMatchObject([
      { number: 1, values: { id: 1 } },
      { number: 2, fault: { message: 'the line is not a JSON object' }, text: '[2]' },
      { number: 3, fault: { message: 'the line is not a JSON object' }, text: '{"id":' },
      { number: 4, values: { id: { deep: true } } },
    ])
  })

  test.each([
    ['no such file', 'missing.csv', undefined],
    ['a column that is there twice', 'd.csv', 'a,a\n1,2\n'],
    ['a quote that never ends', 'e.csv', 'a,b\n1,"2\n3,4\n'],
  ])('%s is reported with a message', async (_what, name, content) => {
    if (content !== undefined) writeFileSync(join(directory, name), content)
    const rows = Array.fromAsync(readRows(describeSource(join(directory, name))))
    await expect(rows).rejects.toMatchObject({ name: expect.stringMatching(/^(Command|Import)Error$/) as string })
  })
})

describe('mapping', () => {
  test('columns, fixed values, nested fields and conversions', () => {
    const maps = [
      'platformCustomerId=id',
      'identity.email=mail',
      'occurredAt=date',
      'value=amount',
      'tags=labels',
      'traits.plan=plan',
      'traits.lessons:number=lessons',
      'traits.vip:boolean=vip',
      'properties.sku.size=size',
    ]
    const row = {
      id: '0042',
      mail: ' A@b.example ',
      date: '2024-02-29 10:00:05',
      amount: '-1234.50',
      labels: 'a, b,,c',
      plan: '7',
      lessons: '3',
      vip: 'no',
      size: 'XL',
    }
    expect(map(maps, ['event=order paid', 'type=purchase'], row)).toEqual({
      identity: { platformCustomerId: '0042', email: 'A@b.example' },
      occurredAt: '2024-02-29T10:00:05',
      value: -1234.5,
      tags: ['a', 'b', 'c'],
      traits: { plan: '7', lessons: 3, vip: false },
      properties: { 'sku.size': 'XL' },
      event: 'order paid',
      type: 'purchase',
    })
  })

  test('an empty cell is not sent', () => {
    expect(map(['email=mail', 'value=amount'], ['event=x'], { mail: 'a@b.example', amount: ' ' })).toEqual({
      identity: { email: 'a@b.example' },
      event: 'x',
    })
  })

  test.each([
    ['12,50', 12.5],
    ['1234,5', 1234.5],
    ['-0,99', -0.99],
  ])('in the amount %s, the comma can only separate decimals', (amount, value) => {
    expect(map(['value=amount'], [], { amount })).toEqual(map(['value=amount'], [], { amount: String(value) }))
  })

  test.each(['1.234', '1,234', '12.500', '-100.000', '999,999'])(
    'the amount %s can be read in two ways, and is not guessed',
    (amount) => {
      expect(map(['value=amount'], [], { amount })).toEqual({
        fault: `value: "${amount}" can be read in two ways. Say which sign separates decimals (decimal: point or comma), or write it as 1234.50`,
      })
    },
  )

  test.each([
    ['0.125', 0.125],
    ['0,125', 0.125],
    ['1234.567', 1234.567],
    ['1234,567', 1234.567],
    ['12.5000', 12.5],
    ['1.5e3', 1500],
  ])('in the amount %s, nothing can separate thousands', (amount, value) => {
    expect(map(['value=amount'], [], { amount })).toEqual({ value })
  })

  test.each(['KWD', ' tnd ', 'BHD', 'IQD', 'JOD', 'LYD', 'OMR'])('amounts in %s have three decimals', (currency) => {
    for (const amount of ['1.234', '1,234']) {
      const row = { amount, currency }
      expect(map(['value=amount', 'currency=currency'], [], row)).toMatchObject({ value: 1.234 })
      expect(map(['value=amount'], [`currency=${currency}`], row)).toMatchObject({ value: 1.234 })
      // The constant wins, and the currency says nothing about other numbers.
      expect(map(['value=amount', 'currency=currency'], ['currency=EUR'], row)).toHaveProperty('fault')
      expect(map(['properties.n:number=amount', 'currency=currency'], [], row)).toHaveProperty('fault')
    }
  })

  test.each([
    ['comma', '1.234', 1234],
    ['comma', '12.345.678,9', 12_345_678.9],
    ['comma', '1,234', 1.234],
    ['comma', '1234', 1234],
    ['comma', '12.50', undefined],
    ['comma', '1,5e3', undefined],
    ['point', '1,234', 1234],
    ['point', '-1,234.50', -1234.5],
    ['point', '1.234', 1.234],
    ['point', '.5', 0.5],
    ['point', '12,50', undefined],
    ['point', '1,23,456', undefined],
  ] as const)('with a decimal %s, %s is read as %s', (decimal, amount, value) => {
    const mapping = readMapping(['value=amount', 'traits.n:number=amount'], [], 'UTC', { decimal })
    const mapped = mapRow(mapping, { amount })
    if (value === undefined) expect(mapped).toMatchObject({ fault: { code: 'cell_number' } })
    else expect(mapped).toEqual({ event: { value, traits: { n: value } } })
  })

  test.each([
    ["'70012645521", '70012645521'],
    ["'+31611264552", '+31611264552'],
    [" '-5", '-5'],
    ["'=1", '=1'],
    ["'@home", '@home'],
    ["'tis", "'tis"],
    ["O'Brien", "O'Brien"],
    ["5'6", "5'6"],
    ["''70s", "''70s"],
    ["'", "'"],
  ])('the cell %s says %s', (cell, text) => {
    expect(map(['traits.x=c', 'phone=c'], [], { c: cell })).toEqual({ traits: { x: text }, identity: { phone: text } })
  })

  test("an apostrophe is a spreadsheet's only in a cell of a CSV file: neither in JSON nor in a constant", () => {
    expect(mapRow(readMapping(['traits.x=c'], [], 'UTC', { isCsv: false }), { c: "'90s" })).toEqual({
      event: { traits: { x: "'90s" } },
    })
    expect(map([], ["traits.x='90s"], {})).toEqual({ traits: { x: "'90s" } })
    expect(map(['value=c', 'occurredAt=d', 'tags=t'], [], { c: "'-12.50", d: "'2024-01-15", t: "'5,a" })).toEqual({
      value: -12.5,
      occurredAt: '2024-01-15',
      tags: ['5', 'a'],
    })
  })

  test.each([
    ['"VIP","Blog, weekly"', ['VIP', 'Blog, weekly']],
    ['VIP, "Blog, weekly" ,new', ['VIP', 'Blog, weekly', 'new']],
    ['"a ""b"" c",', ['a "b" c']],
    ['12" pan, red', ['12" pan', 'red']],
    ['"open, red', ['"open', 'red']],
    ['a,,b', ['a', 'b']],
  ])('the tags in %s are %j', (cell, tags) => {
    expect(map(['tags=t'], [], { t: cell })).toEqual({ tags })
  })

  test('any tags come back from a cell that is written like a CSV row', () => {
    const tag = fc
      .string({ unit: fc.constantFrom('a', '"', ',', ' ', 'é', "'"), minLength: 1 })
      .map((text) => `x${text}x`)
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1, maxLength: 5 }), (tags) => {
        const t = tags.map((one) => `"${one.replaceAll('"', '""')}"`).join(',')
        expect(map(['tags=t'], [], { t })).toEqual({ tags })
      }),
    )
  })

  test('a time that is mapped and empty fails its row, or leaves it out', () => {
    const maps = ['email=mail', 'occurredAt=paid']
    const fault = 'occurredAt: the time is empty. Fill it in, or leave out rows without a time'
    for (const paid of ['', ' ', '\u0085', null, undefined]) {
      const row = { mail: 'a@b.example', paid }
      expect(map(maps, ['event=x'], row)).toEqual({ fault })
      const skipping = readMapping([...maps, 'value=mail'], ['event=x'], 'UTC', { withoutTime: 'skip' })
      expect(mapRow(skipping, row)).toMatchObject({ isLeftOut: true })
    }
    const row = { mail: 'a@b.example', paid: '', made: '2024-01-15' }
    // A second column, or a constant, is used where the first is empty. Rows may have no time at all.
    expect(map([...maps, 'occurredAt=made'], ['event=x'], row)).toMatchObject({ occurredAt: '2024-01-15' })
    expect(map(maps, ['event=x', 'occurredAt=2024-01-16'], row)).toMatchObject({ occurredAt: '2024-01-16' })
    expect(map(['email=mail'], ['event=x'], row)).not.toHaveProperty('occurredAt')
    expect(map([], [], { event: 'x', occurredAt: null })).toEqual({ event: 'x', occurredAt: null })
  })

  test('a text up to the greatest length is taken, and no longer one', () => {
    expect(map(['traits.x=c'], [], { c: 'x'.repeat(32_768) })).toHaveProperty('traits')
    expect(map(['traits.x=c'], [], { c: 'x'.repeat(32_769) })).toEqual({
      fault: 'traits.x: has more than 32,768 characters',
    })
  })

  test.each(['1.234,50', '1,2,3', ',5', '5,', '12 USD', '0x10', 'NaN', 'Infinity', '--1'])(
    'the amount %s is not guessed',
    (amount) => {
      expect(map(['value=amount'], [], { amount })).toEqual({
        fault: `value: "${amount}" is not a plain number such as 1234.50`,
      })
    },
  )

  test.each([
    ['2024-06-01', 'UTC', '2024-06-01'],
    ['2024-06-01 12:00:00+02', 'Asia/Jerusalem', '2024-06-01T12:00:00+02'],
    ['2024-06-01T12:00:00Z', 'Asia/Jerusalem', '2024-06-01T12:00:00Z'],
    ['2024-06-01 12:00:00 UTC', 'UTC', '2024-06-01T12:00:00Z'],
    ['2024-06-01 12:00', 'Asia/Jerusalem', '2024-06-01T09:00:00Z'],
    ['2024-01-01', 'Asia/Jerusalem', '2023-12-31T22:00:00Z'],
    ['2024-03-31 01:59:59', 'Europe/Berlin', '2024-03-31T00:59:59Z'],
    ['2024-03-31 03:00', 'Europe/Berlin', '2024-03-31T01:00:00Z'],
    ['2024-10-27 02:30', 'Europe/Berlin', '2024-10-27T00:30:00Z'],
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00Z'],
    ['1717236000000', 'Asia/Jerusalem', 1_717_236_000_000],
    ['1717236000000.5', 'UTC', 1_717_236_000_000.5],
    ['631152000000', 'UTC', Date.UTC(1990, 0)],
    ['1000000000000', 'UTC', Date.UTC(2001, 8, 9, 1, 46, 40)],
    ['10003564799999', 'UTC', Date.UTC(2287, 0) - 1],
    ['next week', 'UTC', 'next week'],
  ])('the time %s in %s is sent as %s', (date, timezone, expected) => {
    expect(map(['occurredAt=date'], [], { date }, timezone)).toEqual({ occurredAt: expected })
  })

  test.each(['2024-03-31 02:00', '2024-03-31T02:59:59.999'])(
    'the time %s, which Berlin skipped, is refused',
    (date) => {
      const fault = `occurredAt: "${date}" does not exist in Europe/Berlin, because the clocks were put forward`
      expect(map(['occurredAt=date'], [], { date }, 'Europe/Berlin')).toEqual({ fault })
    },
  )

  test.each([
    ['the last millisecond of 1989', '631151999999'],
    ['the first millisecond of 2287', '10003564800000'],
    ['epoch seconds', '1706702400'],
    ['epoch seconds with a fraction', '1706702400.25'],
    ['epoch seconds before 1970', '-1706702400'],
    ['epoch microseconds', '1706702400000000'],
    ['a year', '2024'],
    ['a compact date', '20240131'],
    ['a compact date and hour', '2024013112'],
    ['a compact date and minute', '202401311200'],
    ['a compact date and second', '20240131120000'],
    ["a spreadsheet's day", '45322'],
  ])('%s is refused as a time: %s, as text or as a number, mapped or not', (_what, digits) => {
    const fault = `occurredAt: "${digits}" as epoch milliseconds is before 1990 or after 2286. Multiply seconds by 1000; write dates as 2024-01-31T12:00:00`
    for (const cell of [digits, ` ${digits} `, Number(digits)]) {
      expect(map(['occurredAt=date'], ['event=e'], { date: cell })).toEqual({ fault })
      expect(map([], [], { event: 'e', occurredAt: cell })).toEqual({ fault })
    }
  })

  test('the time of a JSON line that is an event is read like a mapped one, unless a fixed one wins', () => {
    const line = (occurredAt: unknown) => ({ event: 'e', occurredAt })
    expect(map([], [], line('2024-06-01 12:00'), 'Asia/Jerusalem')).toEqual(line('2024-06-01T09:00:00Z'))
    expect(map([], [], line(1_717_236_000_000), 'Asia/Jerusalem')).toEqual(line(1_717_236_000_000))
    expect(map([], [], line(null))).toEqual(line(null))
    expect(map([], [], line({}))).toEqual(line({}))
    expect(map([], ['occurredAt=2024-01-31'], line(1_706_702_400))).toEqual(line('2024-01-31'))
  })

  test('JSON keeps its types, and reaches into objects', () => {
    const row = { user: { id: 42, email: null }, at: 1_717_236_000_000, total: 12.5, 'a.b': 1 }
    const maps = ['platformCustomerId=user.id', 'email=user.email', 'occurredAt=at', 'value=total', 'traits.x=a.b']
    expect(map(maps, ['event=e'], row)).toEqual({
      identity: { platformCustomerId: 42, email: null },
      occurredAt: 1_717_236_000_000,
      value: 12.5,
      traits: { x: 1 },
      event: 'e',
    })
  })

  test('a JSON line may have a key with the name that marks unreadable lines', () => {
    const line = { event: 'a', fault: 'flat tyre' }
    expect(mapRow(readMapping([], [], 'UTC'), line)).toEqual({ event: line })
  })

  test('JSON lines that are events go as they are, with the fixed values', () => {
    const event = { event: 'a', identity: { email: 'a@b.example' }, traits: { n: 1 } }
    expect(map([], ['type=lead', 'traits.source=old'], event)).toEqual({
      ...event,
      type: 'lead',
      traits: { n: 1, source: 'old' },
    })
  })

  test.each([
    [['evnt=x'], [], 'no field "evnt"'],
    [['event'], [], 'must be FIELD=COLUMN'],
    [['email=mail'], [], 'need a name'],
    [[], ['event=x'], 'need a person'],
    [['email=nope'], ['event=x'], 'no column "nope". The columns are mail, id'],
    [['traits.a:date=mail', 'email=mail'], ['event=x'], 'no field "traits.a:date"'],
  ])('%j with %j is refused: %s', (maps, sets, message) => {
    expect(() => checkMapping(readMapping(maps, sets, 'UTC'), ['mail', 'id'])).toThrow(message)
  })
})

describe('a mapping', () => {
  const check = (maps: string[], sets: string[], columns: string[] | null) => () =>
    checkMapping(readMapping(maps, sets, 'UTC'), columns)

  test('for JSON lines names the event and the person, as soon as anything is mapped', () => {
    expect(check(['value=total'], [], null)).toThrow(/^The events need a name\. .* only mapped fields are taken$/)
    expect(check(['value=total'], ['event=x'], null)).toThrow(/^The events need a person\. .* only mapped fields/)
    expect(check(['email=mail'], ['event=x'], null)).not.toThrow()
    expect(check([], ['value=5'], null)).not.toThrow()
    expect(check([], [], null)).not.toThrow()
  })

  test.each([
    ['email;when', ';'],
    ['email|when', '|'],
    ['email\twhen', '\\t'],
  ])('for a file that has another delimiter says so: %j', (column, delimiter) => {
    expect(check(['email=email'], ['event=x'], [column])).toThrow(`--delimiter '${delimiter}'`)
    expect(check(['email=email'], ['event=x'], [column, 'b'])).not.toThrow('--delimiter')
  })
})

describe('a rounded number', () => {
  const prepare = (maps: string[], values: Record<string, unknown>) =>
    prepareRow(
      { mapping: readMapping(maps, ['event=x'], 'UTC'), businessId: 'b', name: '' },
      { number: 1, values },
      'hash',
      1,
    )

  test.each([
    ['phone', 'identity.phone', '4.47912E+11'],
    ['phone', 'identity.phone', "'4,47912E+11"],
    ['platformCustomerId', 'identity.platformCustomerId', '5.12E+12'],
    ['idempotencyKey', 'idempotencyKey', ' 5.12e12 '],
  ])('as %s fails its row', (field, path, who) => {
    const found = prepare([`email=mail`, `${field}=who`], { mail: 'a@b.example', who })
    expect(found).toMatchObject({ fault: { path, code: 'cell_rounded' } })
    expect('fault' in found && found.fault.message).toMatch(
      / looks rounded by a spreadsheet\. Format the column as text/,
    )
  })

  test.each(['phone', 'platformCustomerId'])('is not a %s with an empty fraction: no digit is gone', (field) => {
    expect(prepare([`${field}=who`], { who: '491512345678.0' })).toMatchObject({
      event: { identity: { [field]: '491512345678.0' } },
    })
  })

  test('is a number where numbers belong, and a JSON line is read like a mapped one', () => {
    expect(prepare(['email=mail', 'value=n', 'traits.x=n'], { mail: 'a@b.example', n: '4.5E+3' })).toMatchObject({
      event: { value: 4500, traits: { x: '4.5E+3' } },
    })
    expect(prepare([], { event: 'x', identity: { phone: '4.47912E+11' } })).toMatchObject({
      fault: { path: 'identity.phone' },
    })
    expect(prepare([], { event: 'x', identity: { phone: 447_912_000_111 } })).toHaveProperty('event')
  })
})

test('warnings are counted, the first shown with their rows, and those of keys say what to do', () => {
  const found = noWarnings()
  const rows = Array.from({ length: 12 }, (_, index): FileRow => ({ number: index + 100, values: {} }))
  addWarnings(found, rows, 5, [
    'item 5: idempotencyKey is that of an event with another name, "purchase"',
    ...rows.slice(1).map((_, index) => `item ${index + 6}: odd`),
  ])
  expect([found.count, found.ofKeys, found.shown.length]).toEqual([12, 1, 10])
  expect(found.shown[1]).toBe('row 101: odd')
  const progress = { file: '', position: 0, failureBytes: 0, received: 12, recorded: 11, deduped: 1, failed: 0 }
  const outcome = { progress, failures: [], warnings: found, leftOut: 3 }
  const { text, json } = report(outcome, { start: { ...progress, position: 0 }, failuresFile: '' }, false)
  expect(text).toContain('12 rows: 11 recorded, 1 already known, 0 failed; 3 without a time left out\n')
  expect(text).toContain('… and at least 2 more warnings\n')
  expect(text).toContain('not recorded: at least 1. If they are events of their own, such as refunds of orders, ')
  expect(json).toMatchObject({ leftOut: 3, warningCount: 12 })
})

describe('keys', () => {
  const rowsOf = (values: Record<string, unknown>[]): FileRow[] =>
    values.map((value, index) => ({ number: index + 1, values: value }))

  async function keysOf(rows: FileRow[]): Promise<string[]> {
    const survey = await surveyRows(toAsync(rows), 1000)
    const numberOf = createNumbering(survey.repeated)
    return rows.map((row) => {
      const hash = hashRow(row)
      return keyOf(['', 'event'], hash, numberOf(hash))
    })
  }

  async function* toAsync(rows: FileRow[]): AsyncGenerator<FileRow> {
    yield* rows
  }

  test('each row has its own, also when rows are equal; any order of rows and columns gives the same', async () => {
    const row = fc.record({ id: fc.integer({ min: 0, max: 5 }), amount: fc.integer({ min: 0, max: 2 }) })
    const files = fc
      .array(row, { maxLength: 60 })
      .chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })))
    await fc.assert(
      fc.asyncProperty(files, async ([rows, shuffled]) => {
        const keys = await keysOf(rowsOf(rows))
        expect(new Set(keys).size).toBe(rows.length)
        const turned = shuffled.map(({ id, amount }) => ({ amount, id }))
        expect((await keysOf(rowsOf(turned))).toSorted()).toEqual(keys.toSorted())
      }),
    )
  })

  test('a filter that is far too small still counts rightly', async () => {
    const rows = rowsOf(Array.from({ length: 100_000 }, (_, id) => ({ id: id % 99_000 })))
    expect(new Set(await keysOf(rows)).size).toBe(100_000)
  })

  test('a longer copy of a file repeats the keys of the shorter one', async () => {
    const first = await keysOf(rowsOf([{ id: 1 }, { id: 1 }, { id: 2 }]))
    const longer = await keysOf(rowsOf([{ id: 3 }, { id: 2 }, { id: 1 }, { id: 1 }, { id: 1 }]))
    expect(longer).toEqual(expect.arrayContaining(first))
    expect(new Set(longer).size).toBe(5)
  })

  test('another event name or import name makes other keys', () => {
    const keys = [
      ['', 'a'],
      ['', 'b'],
      ['x', 'a'],
    ].map((scope) => keyOf(scope, 'hash', 1))
    expect(new Set(keys).size).toBe(3)
  })
})

test.each([
  [1, '1 row: 1 recorded, 0 already known, 0 failed'],
  [2, '2 rows: 2 recorded, 0 already known, 0 failed'],
])('the report of an import of %i', (count, text) => {
  const none = { file: '', position: 0, failureBytes: 0, received: 0, recorded: 0, deduped: 0, failed: 0 }
  const progress = { ...none, received: count, recorded: count }
  const journal = { start: none, failuresFile: '' }
  expect(report({ progress, failures: [], warnings: noWarnings(), leftOut: 0 }, journal, false)).toMatchObject({
    text,
    exitCode: 0,
  })
})
