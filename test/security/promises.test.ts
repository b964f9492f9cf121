/**
 * Every promise in docs/security.md has tests: its row names their files, and promises.json names their titles. Each
 * test exists, and `-t` finds it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** Maps each promise to the titles of its tests by file. */
type Held = Record<string, Record<string, string[]>>

const HELD = JSON.parse(read('test/security/promises.json')) as Held

const testFilesIn = (text: string): string[] =>
  [...text.matchAll(/`(test\/[\w/-]+\.test\.ts)`/g)].map(([, file = '']) => file)

/** Reads the rows of the tables below the heading "Promised": the id of the promise, and its test files. */
function promisesOf(page: string): { id: string; files: string[] }[] {
  const [, promised = ''] = page.split(/^## Promised$/m)
  const rows = (promised.split(/^## /m)[0] ?? '').matchAll(/^\| (\w*\d+) \|(.*)$/gm)
  return [...rows].map(([, id = '', rest = '']) => ({ id, files: testFilesIn(rest) }))
}

/** Returns the first argument of every `it(…)` and `test(…)`, including those with tables. */
const titlesIn = (source: string): string[] =>
  [...source.matchAll(/[(]\s*(?:'([^'\n]+)'|"([^"\n]+)"),\s*(?:\{[^}]*\},\s*)?(?:async )?\(/g)].map(
    ([, a, b]) => a ?? b ?? '',
  )

/** Characters with a meaning in the patterns of `-t`. */
const PATTERN = /[\\^$.*+?()[\]{}|]/

/** Placeholders in the titles of tables. They are replaced by different texts. */
const PLACEHOLDERS = /%[sdifjoOc#$]|\$[\w.]+/

/**
 * True when the text is part of the name of a test. Then `-t` runs that test, instead of passing without running any.
 */
const isFound = (title: string, source: string): boolean =>
  !PATTERN.test(title) &&
  titlesIn(source).some((whole) => whole.split(PLACEHOLDERS).some((part) => part.includes(title)))

const hasTest = (file: string, title: string): boolean => existsSync(new URL(file, root)) && isFound(title, read(file))

function findFaults(page: string, held: Held = HELD): string[] {
  const promises = promisesOf(page)
  const tests = promises.flatMap(({ id }) =>
    Object.entries(held[id] ?? {}).flatMap(([file, titles]) => titles.map((title) => ({ file, title }))),
  )
  return [
    ...promises.filter(({ files }) => files.length === 0).map(({ id }) => `${id} has no test`),
    ...promises
      .filter(
        ({ id, files }) =>
          files.toSorted().join() !==
          Object.keys(held[id] ?? {})
            .toSorted()
            .join(),
      )
      .map(({ id }) => `${id} has other test files in promises.json`),
    ...Object.keys(held)
      .filter((id) => !promises.some((promise) => promise.id === id))
      .map((id) => `${id} is in promises.json only`),
    ...tests.filter(({ file, title }) => !hasTest(file, title)).map(({ file, title }) => `${file} has no "${title}"`),
    ...testFilesIn(page)
      .filter((file) => !existsSync(new URL(file, root)))
      .map((file) => `there is no ${file}`),
  ]
}

describe('docs/security.md', () => {
  const page = read('docs/security.md')

  it('promises nothing without a test that is there', () => {
    expect(promisesOf(page).length).toBeGreaterThan(50)
    expect(new Set(promisesOf(page).map(({ id }) => id)).size).toBe(promisesOf(page).length)
    expect(findFaults(page)).toEqual([])
  })

  it('would be caught at a promise without a test, other files than promises.json has, and a missing file or title', () => {
    const here = 'test/security/promises.test.ts'
    const rows = [
      '| A1 | All is well. | |',
      '| A2 | It is. | `test/security/nothing.test.ts` |',
      `| A3 | It is. | \`${here}\` |`,
    ]
    const wrong = `## Promised\n${rows.join('\n')}\n## Not promised\n| A9 | More. | |`
    const held = { A1: {}, A2: {}, A3: { [here]: ['is well'] }, A4: { [here]: ['is where the README leads to'] } }
    expect(findFaults(wrong, held)).toEqual([
      'A1 has no test',
      'A2 has other test files in promises.json',
      'A4 is in promises.json only',
      `${here} has no "is well"`,
      'there is no test/security/nothing.test.ts',
    ])
  })

  it('would be caught at a title with a placeholder or a pattern in it', () => {
    const source = "it.each([1])('may have %s: $what (or not)', () => undefined)"
    for (const title of ['may have %s', 'have 1', 'what', '(or not)', 'may.have'])
      expect(isFound(title, source)).toBe(false)
    for (const title of ['may have', 'or not']) expect(isFound(title, source)).toBe(true)
  })

  it('is where the README leads to', () => {
    expect(read('README.md')).toContain('(docs/security.md)')
  })
})
