/**
 * From the bytes of a file to its text, its lines and its rows: nothing is damaged on the way, however the file is
 * divided into chunks.
 */
import { isUtf8 } from 'node:buffer'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { describeSource, readRows } from '../../src/admin/import/read-rows.ts'
import type { FileRow } from '../../src/imports/file-row.ts'
import { decodeText } from '../../src/admin/import/read-text.ts'
import { MAX_LINE, splitLines } from '../../src/admin/import/split-lines.ts'
import { runs } from '../support/runs.ts'

const directory = mkdtempSync(join(tmpdir(), 'sluice-import-'))
afterAll(() => rmSync(directory, { recursive: true }))

async function readFileRows(name: string, content: string | Buffer): Promise<FileRow[]> {
  const file = join(directory, name)
  writeFileSync(file, content)
  return Array.fromAsync(readRows(describeSource(file)))
}

async function* inPieces<T>(pieces: Iterable<T>): AsyncGenerator<T> {
  yield* pieces
}

/** Cuts at any places, given as shares of the whole. */
function cutBytes(bytes: Buffer, places: number[]): Buffer[] {
  const cuts = [0, ...places.map((place) => Math.floor(place * bytes.length)).toSorted((a, b) => a - b), bytes.length]
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end))
}
const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

const readText = async (chunks: Buffer[]): Promise<string> =>
  (await Array.fromAsync(decodeText(inPieces(chunks), 'FILE'))).join('')

const readLines = (chunks: Buffer[]): Promise<string[]> =>
  Array.fromAsync(splitLines(decodeText(inPieces(chunks), 'FILE'), 'FILE'))

/** Returns the number of the line with the first byte that is not UTF-8, from 1; undefined when there is none. */
function badLine(bytes: Buffer): number | undefined {
  const lines = bytes.toString('latin1').split('\n')
  const found = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')))
  return found === -1 ? undefined : found + 1
}

describe('text', () => {
  test('comes back as it was, whatever its characters and wherever its bytes are cut', async () => {
    const text = fc.string({ unit: fc.oneof(fc.constantFrom('\n', '\r', '\uFFFD', 'ü', '€', '😀'), fc.string()) })
    await fc.assert(
      fc.asyncProperty(text, places, async (written, cuts) => {
        const bytes = Buffer.from(written)
        const expected = bytes.toString().replace(/^\uFEFF/, '')
        expect(await readText(cutBytes(bytes, cuts))).toBe(expected)
      }),
    )
  })

  test('that is not UTF-8 is refused with its line, wherever its bytes are cut', async () => {
    const part = fc.constantFrom('a', '\n', '\xFC', '\xC3\xBC', '\xC3', '\xE2\x82\xAC', '\xED\xA0\x80', '\xF0\x9F\x98')
    const latin1 = fc.array(part, { maxLength: 20 }).map((parts) => Buffer.from(parts.join(''), 'latin1'))
    await fc.assert(
      fc.asyncProperty(latin1, places, async (bytes, cuts) => {
        const line = badLine(bytes)
        const result = await readText(cutBytes(bytes, cuts)).catch((error: Error) => error.message)
        if (line === undefined) expect(result).toBe(bytes.toString())
        else expect(result).toMatch(new RegExp(`^Line ${line} of FILE is not UTF-8. Convert the file, .* iconv -f `))
      }),
      { numRuns: runs(500) },
    )
  })

  test('with a byte order mark of UTF-16LE is read as that, wherever its bytes are cut', async () => {
    const bytes = Buffer.from('\uFEFFid,name\n1,Müller Ċ ਐ 😀\n', 'utf16le')
    for (let cut = 2; cut <= bytes.length; cut++)
      expect(await readText([bytes.subarray(0, cut), bytes.subarray(cut)])).toBe('id,name\n1,Müller Ċ ਐ 😀\n')
    const half = bytes.subarray(0, bytes.length - 1)
    await expect(readText([half])).rejects.toThrow('Line 2 of FILE is not UTF-16LE')
  })
})

describe('a file in Windows-1252', () => {
  const filler = 'a@x.example,Miller,10\n'.repeat(10_000)

  test.each([
    ['at the beginning', 'mail,name,amount\nj@x.com,M\xFCller,10\n', 2],
    ['far behind', `mail,name,amount\n${filler}j@x.com,M\xFCller,10\n`, 10_002],
    ['in its header', 'mail,Stra\xDFe\nj@x.com,Ring\n', 1],
    ['in its last byte', 'mail,name\nj@x.com,Andr\xE9', 2],
  ])('is refused with the line: CSV, %s', async (_where, content, line) => {
    await expect(readFileRows('w.csv', Buffer.from(content, 'latin1'))).rejects.toMatchObject({
      name: 'CommandError',
      code: 'unreadable_file',
      message: expect.stringContaining(`Line ${line} of ${join(directory, 'w.csv')} is not UTF-8`) as string,
    })
  })

  test('is refused with the line: NDJSON', async () => {
    const content = Buffer.from('{"name":"Miller"}\n\n{"name":"M\xFCller"}\n', 'latin1')
    await expect(readFileRows('w.ndjson', content)).rejects.toThrow(/^Line 3 of .* is not UTF-8/)
  })
})

test.each([
  ['r.csv', '\uFEFFname\nM\uFFFDller\n'],
  ['r.ndjson', '\uFEFF{"name":"M\uFFFDller"}\n'],
])('a replacement character that is really in %s is text like any other', async (name, content) => {
  expect(await readFileRows(name, content)).toEqual([{ number: 1, values: { name: 'M\uFFFDller' } }])
})

describe('lines', () => {
  test('that JSON.stringify wrote come back as they were, whatever their values, the chunks and the line ends', async () => {
    const odd = fc.string({ unit: fc.constantFrom('\u2028', '\u2029', '\u0085', '\r', '\n', '\uFEFF', 'ü', '😀', 'a') })
    const event = fc.dictionary(fc.oneof(odd, fc.string()), fc.oneof(odd, fc.jsonValue()), { noNullPrototype: true })
    const ending = fc.constantFrom('\n', '\r\n')
    await fc.assert(
      fc.asyncProperty(fc.array(event), ending, fc.boolean(), places, async (events, end, endsLast, cuts) => {
        const written = events.map((one) => JSON.stringify(one))
        const bytes = Buffer.from(written.join(end) + (endsLast && written.length > 0 ? end : ''))
        expect(await readLines(cutBytes(bytes, cuts))).toEqual(written)
      }),
    )
  })

  test('end at \\n alone, also where a chunk ends between \\r and \\n, and may be empty', async () => {
    const bytes = Buffer.from('a\rb\r\r\n\r\n\nc\u2028d\u2029e\r')
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(await readLines([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual([
        'a\rb\r',
        '',
        '',
        'c\u2028d\u2029e',
      ])
  })

  test('up to the greatest length are read, and one character more is reported with the number of the line', async () => {
    const half = 'x'.repeat(MAX_LINE / 2)
    const lines = await Array.fromAsync(splitLines(inPieces(['a\n', half, half, '\nb']), 'FILE'))
    expect(lines.map(({ length }) => length)).toEqual([1, MAX_LINE, 1])
    const longer = Array.fromAsync(splitLines(inPieces(['a\n', half, half, 'x\nb']), 'FILE'))
    await expect(longer).rejects.toThrow(/^Line 2 of FILE is longer than 67108864 characters/)
  })

  test('in an NDJSON file may hold U+2028 and U+2029 as they are', async () => {
    const values = { note: 'one\u2028two\u2029three', 'a\u2028b': 'x'.repeat(100_000) }
    const line = JSON.stringify(values)
    expect(await readFileRows('s.ndjson', `${line}\r\n\r\n${line}`)).toEqual([
      { number: 1, values },
      { number: 2, values },
    ])
  })
})
