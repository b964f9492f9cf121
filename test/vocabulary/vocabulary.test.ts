import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findBanned, type Word } from './find-banned.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')
const { covered, words } = JSON.parse(read('words.json')) as { covered: string[]; words: Word[] }

const foundIn = (text: string): string[] => findBanned(text, words).map(({ line, text }) => `${line} ${text}`)

function check(...paths: string[]): { status: number | null; stderr: string } {
  const script = fileURLToPath(new URL('check.ts', import.meta.url))
  const { status, stderr } = spawnSync('bun', [script, ...paths], { encoding: 'utf8' })
  return { status, stderr }
}

describe('the vocabulary', () => {
  it.each([
    ['the log tells of it', '1 tells'],
    ['It was told.', '1 told'],
    ['It is nobody’s.', '1 nobody’s'],
    ["somebody's", "1 somebody's"],
    ['Whoever asks', '1 Whoever'],
    ['a road', '1 road'],
    ['two\nlanes.', '2 lanes'],
    ['the door answers', '1 door'],
    ['this is no key', '1 is no'],
    ['so many of them', '1 so many'],
    ['/** It asks once\n * more. */', '1 once * more'],
    ['what came of it', '1 what came of'],
    ['A step hears of it.', '1 hears'],
    ['The events are\n-- heard', '1 are -- heard'],
    ['whichever front doors run or die', '1 whichever front doors run or'],
    ['whatever else is created, merged\n * or erased', '1 whatever else is created, merged * or'],
  ])('has no place for: %s', (text, found) => {
    expect(foundIn(text)).toEqual([found])
  })

  it.each([
    'the front door, two front doors',
    'There is no key. It is no longer there, and is no such key.',
    '`src/front-door/serve.ts`, `test/web-lanes.test.ts`, src/road/map.ts, lane.ts',
    'Retell the broader roadmap.',
    'const heard = server.heard.length',
    'whatever its speed, if Postgres or ClickHouse fails',
    'whatever comes next',
  ])('leaves alone: %s', (text) => {
    expect(foundIn(text)).toEqual([])
  })

  it.each([
    ["it('of two')", '1 of'],
    ['test(`of ${name}`)', '1 of'],
    ['describe("Of two")', '1 Of'],
    ["it.concurrent('of two')", '1 of'],
    ["it.runIf(isRoot)('of two')", '1 of'],
    ["it.each([\n  ['a(b)'],\n])(\n  'of %s')", '4 of'],
  ])('has no place for a test title that begins with "of": %s', (text, found) => {
    expect(foundIn(text)).toEqual([found])
  })

  it('leaves alone the same words elsewhere', () => {
    expect(foundIn("it('has one of two', () => did('of ann')), it('often'), it.each(['of two'])('%s')")).toEqual([])
  })

  it('is checked by a command that names file, line, word and replacement, and fails', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'vocabulary-')), 'page.md')
    writeFileSync(file, 'Fine.\n\nSlow lanes.\n')
    expect(check(file)).toEqual({ status: 1, stderr: `${file}:3: "lanes": write partition\n` })
    writeFileSync(file, 'Slow partitions.\n')
    expect(check(file)).toEqual({ status: 0, stderr: '' })
  })

  it('is kept by the covered files', () => {
    expect(check()).toEqual({ status: 0, stderr: '' })
  })

  it('covers every source, every page and every test but its own', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const reached = new Set(covered.flatMap((pattern) => globSync(pattern, { cwd: root })))
    const written = execFileSync('git', ['ls-files', 'src', 'workers', 'sql', 'docs', 'test', '*.md'], { cwd: root })
      .toString()
      .split('\n')
      .filter((file) => /\.(ts|tsx|sql|md)$/.test(file) && !/^test\/(vocabulary\/|bench\/.*\.sql$)/.test(file))
    expect(written.length).toBeGreaterThan(1000)
    expect(written.filter((file) => !reached.has(file))).toEqual([])
  })
})
