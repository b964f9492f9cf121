/** ClickHouse reads the same values from the properties of events as JavaScript, whichever way a text is read. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { keysOf, valueOf } from '../../src/analytics/breakdown.ts'
import { namesOf, valueAt } from '../../src/rules/segments/reading/property-path.ts'
import { readableJson } from '../../src/segments/clickhouse/json-sql.ts'
import { PROPERTIES, eventPropertySql } from '../../src/segments/clickhouse/windows-sql.ts'
import { runs } from '../support/runs.ts'
import { openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

const PATHS = ['a', 'b', 'a.b', 'a.0', '0', 'b.a.0.b', '\\.', '"', 'a"', '\\', 'é', '{', 'a:', '']
const name = fc.constantFrom('a', 'b', '.', '0', '"', 'a"', '\\', 'é', '{', 'a:', '', 'x"a')
const scalar = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('', 'pro', 'a":1', ',"a":', '{', '\\', '"', 'é', '\u2028', '/', 'null', '1', 'e+'),
  fc.constantFrom(0, -1, 25, 0.1, -2.5, 1e-7, 1e21, -1e22, 2 ** 67, 2 ** 63, 2 ** 53, 1e300),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(true, false, null),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.dictionary(name, tie('value'), { maxKeys: 3 }) },
  ),
}))
const properties = fc.dictionary(name, value, { maxKeys: 5 })

/** Returns, for each text, the value at a path and the key of a breakdown by it. */
async function read(texts: string[], path: string): Promise<{ json: string; key: string }[]> {
  const keys = keysOf({ by: 'property', name: path })
  const key = keys.of === 'event' ? keys.keyOf(keys.value) : ''
  const result = await stack.clickhouse.query({
    query: `select ${eventPropertySql(path)} as json, ${key} as key
      from (select *, ${readableJson('properties')} as ${PROPERTIES} from (
        select text as properties, place from (select {texts: Array(String)} as texts) array join texts as text, arrayEnumerate(texts) as place))
      order by place`,
    query_params: { texts },
    format: 'JSONEachRow',
  })
  return await result.json()
}

it('finds the value that a path leads to', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(properties, { minLength: 20, maxLength: 20 }),
      fc.constantFrom(...PATHS),
      async (given, path) => {
        const texts = given.map((one) => JSON.stringify(one))
        const found = await read(texts, path)
        for (const [at, { json, key }] of found.entries()) {
          const expected = valueAt(JSON.parse(texts[at] ?? ''), namesOf(path))
          const parsed: unknown = json === '' ? null : JSON.parse(json)
          expect(parsed, texts[at]).toEqual(expected ?? null)
          if (typeof expected === 'string') expect(valueOf(key)).toBe(expected)
          else if (expected === undefined) expect(valueOf(key)).toBeNull()
        }
        // With a list and an escaped text inside, the object has to be parsed.
        const parsed = await read(
          given.map((one) => JSON.stringify({ ...one, other: [{ '"': '\\' }] })),
          path,
        )
        expect(parsed.map(({ key }) => key)).toEqual(found.map(({ key }) => key))
      },
    ),
    { numRuns: runs(75) },
  )
})
