import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { readArguments } from './read-arguments.ts'
import { COMPARISONS } from './against/comparisons.ts'
import { SCENARIOS } from './scenarios/index.ts'

const run = (...args: string[]) => {
  const [command = '', ...rest] = runtimeCommand(new URL('run.ts', import.meta.url), args)
  return spawnSync(command, rest, { encoding: 'utf8', cwd: fileURLToPath(new URL('.', import.meta.url)) })
}

test('--help names every scenario', () => {
  const { status, stdout } = run('--help')
  expect(status).toBe(0)
  for (const { name, title } of SCENARIOS) expect(stdout).toMatch(new RegExp(`^ +${name} +${title[0]}`, 'm'))
})

test('what makes no sense is refused, with the usage, and starts nothing', () => {
  const { status, stderr } = run('--scenario', 'tracks')
  expect(status).toBe(2)
  expect(stderr).toContain('There is no such scenario.')
  expect(stderr).toContain('Usage: bun run bench')
})

test.each([
  [['--scenario', 'tracks'], 'no such scenario'],
  [['--herd', '0'], '0 is not a number above 0'],
  [['--quik'], '--quik'],
  [['saturation'], 'saturation'],
  [['--rounds', '3'], '--rounds is only for --against'],
  [['--against', 'main', '--rounds', '0'], '0 is not a number above 0'],
  [['--against', 'main', '--guard'], 'exclude each other'],
  [['--against', 'main', '--scenario', 'overload'], 'no such scenario'],
])('%s makes no sense', (args, complaint) => {
  expect(() => readArguments(args)).toThrow(complaint)
})

test('a revision that does not exist is refused, and starts nothing', () => {
  const { status, stderr } = run('--against', 'no-such-revision')
  expect(status).toBe(1)
  expect(stderr).toContain('There is no revision no-such-revision.')
})

test('--against takes comparisons by name, and five rounds or two', () => {
  const read = readArguments(['--against', 'main', '--scenario', 'track', '--quick'])
  expect(read).toMatchObject({ chosen: [], rounds: 2 })
  expect(read === 'help' ? [] : read.comparisons.map(({ name }) => name)).toEqual([
    'track-32',
    'track-256',
    'track-512',
  ])
  expect(readArguments(['--against', 'main'])).toMatchObject({ rounds: 5, comparisons: COMPARISONS })
})

test('sizes and scenarios are taken, and all scenarios without any', () => {
  const read = readArguments(['--quick', '--scenario', 'sends', '--sends', '5'])
  expect(read).toMatchObject({ values: { quick: true, out: '.' }, sizes: { sends: 5, herd: undefined } })
  expect(readArguments([])).toMatchObject({ chosen: SCENARIOS })
})
