/** Postgres reads from our array literals exactly what was written into them, whatever the texts contain. */
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { arrayLiteral, writeColumns } from '../../src/stores/write-columns.ts'
import { faultKind } from '../../src/stores/postgres.ts'
import { type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { runs } from '../support/runs.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeAll(async () => {
  pipeline = await openPipeline(stack.sql)
  ;({ businessId } = await createBusiness(stack.sql))
})

const PIECES = [
  '"',
  '\\',
  '\n',
  '\r',
  '\t',
  '\b',
  '\u0001',
  '{',
  '}',
  '[]',
  ',',
  ' ',
  'NULL',
  'null',
  "'",
  '\\n',
  '\\"',
  '🎉',
  'é',
]
const piece = fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 3 }))
const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('').toWellFormed().replaceAll('\0', ''))
const cell = fc.option(text)

/** Returns the texts of an array as Postgres parses its literal. */
async function readBack(literal: string): Promise<(string | null)[]> {
  const [row] = await stack.sql<[{ cells: (string | null)[] }]>`select to_json(${literal}::text::text[]) as cells`
  return row.cells
}

describe('an array literal', () => {
  it('gives back its texts', async () => {
    const isKept = async (cells: (string | null)[]) => {
      expect(await readBack(arrayLiteral(cells))).toEqual(cells)
    }
    await fc.assert(fc.asyncProperty(fc.array(cell), isKept), { numRuns: runs(300) })
  })

  it('gives back numbers, truth values and what is missing', async () => {
    const literal = arrayLiteral([1, -2.5, true, false, null, undefined, ''])
    expect(await readBack(literal)).toEqual(['1', '-2.5', 'true', 'false', null, null, ''])
    expect(await readBack(arrayLiteral([]))).toEqual([])
  })

  it.each(['\ud800', 'a\udc00b', '\n\ud83d'])('with %j, which is not Unicode, is a fault of data', (broken) => {
    let thrown: unknown
    try {
      arrayLiteral(['good', broken])
    } catch (error) {
      thrown = error
    }
    expect(faultKind(thrown)).toBe('data')
  })
})

describe('columns', () => {
  it('come out as the rows that went in', async () => {
    const row = fc.record({ a: cell, b: fc.option(fc.integer()), c: text, d: fc.constant(null) })
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1 }), async (rows) => {
        const [read] = await stack.sql<[{ rows: typeof rows }]>`
          select json_agg(json_build_object('a', a, 'b', b, 'c', c, 'd', d) order by n) as rows
          from (select ${writeColumns(['a', 'b', 'c', 'd'], rows)}::text::text[] as p) given cross join lateral
            unnest(p[1]::text[], p[2]::integer[], p[3]::text[], p[4]::text[]) with ordinality as x (a, b, c, d, n)`
        expect(read.rows).toEqual(rows)
      }),
      { numRuns: runs(200) },
    )
  })

  it('are null when there are no rows', () => expect(writeColumns(['a'], [])).toBeNull())
})

describe('a save', () => {
  it('keeps names, tags and traits as they were sent', async () => {
    const name = text.filter((given) => given.trim() !== '')
    const given = fc.record({ event: name, tags: fc.uniqueArray(name), trait: text })
    await fc.assert(
      fc.asyncProperty(given, async ({ event, tags, trait }) => {
        const fact = eventFact(event, { email: `${Math.random()}@x.io` }, { tags, traits: { text: `.${trait}` } })
        const { contactId } = await pipeline.track(track(businessId, fact))
        const [kept] = await stack.sql`
          select s.event, to_json(c.tags) as tags, c.traits -> 'text' ->> 1 as trait
          from contacts c join event_statistics s on s.contact_id = c.id where c.id = ${contactId}`
        expect(kept).toEqual({ event, tags, trait: JSON.stringify(`.${trait}`) })
      }),
      { numRuns: runs(60) },
    )
  })

  it.each(['\0', '\ud800'])('with %j in the name of an event leaves that event alone out', async (broken) => {
    const answers = await pipeline.apply(
      ...[`a${broken}`, 'good', `${broken}b`].map((event) => track(businessId, eventFact(event, { email: 'b@x.io' }))),
    )
    expect(answers).toMatchObject([{ failed: true }, { deduped: false }, { failed: true }])
  })
})
