/** docs/security.md promises nothing without a test, and names no test that is not there, or that `-t` would not find. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

interface Named {
  file: string
  title: string
}

/** `file` "title", as often as a line has it. */
const testsOf = (line: string): Named[] =>
  [...line.matchAll(/`(test\/[\w/-]+\.test\.ts)` "([^"]+)"/g)].map(([, file = '', title = '']) => ({ file, title }))

/** The bullets below the heading "Promised". */
function promisesOf(page: string): string[] {
  const [, promised = ''] = page.split(/^## Promised$/m)
  return (promised.split(/^## /m)[0] ?? '').split('\n').filter((line) => line.startsWith('- '))
}

/** The first words of every `it(…)` and `test(…)`, tables included. */
const titlesIn = (source: string): string[] =>
  [...source.matchAll(/[(]\s*(?:'([^'\n]+)'|"([^"\n]+)"),\s*(?:\{[^}]*\},\s*)?(?:async )?\(/g)].map(
    ([, a, b]) => a ?? b ?? '',
  )

/** What `-t` reads as a pattern. */
const PATTERN = /[\\^$.*+?()[\]{}|]/

/** In a table's title they stand for something else each time. */
const PLACEHOLDERS = /%[sdifjoOc#$]|\$[\w.]+/

/** The text stands so in the name of a test: `-t` runs that one, and does not pass without running any. */
const isFound = (title: string, source: string): boolean =>
  !PATTERN.test(title) &&
  titlesIn(source).some((whole) => whole.split(PLACEHOLDERS).some((part) => part.includes(title)))

function findFaults(page: string): string[] {
  const promises = promisesOf(page)
  const bare = promises.filter((line) => testsOf(line).length === 0).map((line) => `no test: ${line}`)
  const missing = testsOf(page).filter(
    ({ file, title }) => !existsSync(new URL(file, root)) || !isFound(title, read(file)),
  )
  return [...bare, ...missing.map(({ file, title }) => `${file} has no "${title}"`)]
}

describe('docs/security.md', () => {
  const page = read('docs/security.md')

  it('promises nothing without a test that is there', () => {
    expect(promisesOf(page).length).toBeGreaterThan(20)
    expect(findFaults(page)).toEqual([])
  })

  it('would be caught at a promise without a test, a file that is none and a title that is none', () => {
    const wrong = `## Promised\n- All is well.\n- It is. \`test/security/nothing.test.ts\` "is well"\n- It is. \`test/security/promises.test.ts\` "is well"\n## Not promised\n- More.`
    expect(findFaults(wrong)).toHaveLength(3)
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
