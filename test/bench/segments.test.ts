// @faults
/** The scenarios of segments with few contacts: they measure everything, and what they measure is right. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import type { Traced } from './generator/plan.ts'
import { latencyWithin } from './live-beside.ts'
import type { Report } from './render-report.ts'
import { mixedRule } from './segments/measure-all.ts'

const SIZES = ['--herd', '200', '--clock-rows', '1000', '--contacts', '200', '--segments', '3']
/** A product is started, and must finish everything. */
const LIMIT_MS = 600_000

test('give a figure for each goal', { timeout: LIMIT_MS }, async () => {
  const { scenarios } = await run('--quick', '--scenario', 'segments', ...SIZES)
  const goals = scenarios.map(({ name, outcome, failure }) => [
    name,
    failure ?? outcome?.checks.map(({ goal }) => goal.replace(/, [\d.]+ changes/, ', N changes')),
  ])
  const beside = 'live p99, 400/s, beside contacts that are due'
  expect(Object.fromEntries(goals)).toEqual({
    'segments-live': [
      'CPU an event grows, N changes of membership in 100 events ≤ 10 %',
      'CPU an event grows, N changes of membership in 100 events',
      'no error',
      'no error',
      'no error',
      ...['no segment', 'few changes', 'many changes'].map((what) => `memory of the workers, ${what}`),
    ],
    'segments-due': [
      '200 due in one second settle ≥ 15,000 /s',
      `${beside} ≤ 500 ms`,
      `${beside}, times that alone ≤ 2 times`,
      'beside live events they settle',
      'no error',
      'no error',
      'memory of the workers, due',
    ],
    'segments-idle': ['idle, 1,000 clock rows'],
    'segments-computed': [
      'preview, 200 contacts',
      'new segment until ready, 200 contacts',
      'new segment of few, 200 contacts',
      '3 new segments at once, 200 contacts, until all are ready',
      '3 new segments at once, 200 contacts, from then until the history has them',
      'memory of the workers, computation',
    ],
  })
  // Few and many changes, and about as many as intended.
  const [live] = scenarios
  const changes = live?.outcome?.checks.slice(0, 2).map(({ goal }) => Number(/[\d.]+/.exec(goal)))
  expect(changes?.[0]).toBeGreaterThan(6)
  expect(changes?.[0]).toBeLessThan(20)
  expect(changes?.[1]).toBeGreaterThan(25)
})

async function run(...args: string[]): Promise<Report> {
  const out = await mkdtemp(join(tmpdir(), 'sluice-segments-bench-'))
  try {
    const module = new URL('run.ts', import.meta.url)
    const [command = '', ...rest] = runtimeCommand(module, [...args, '--json', '--out', out])
    const cwd = fileURLToPath(new URL('.', import.meta.url))
    const { status, stdout, stderr } = spawnSync(command, rest, { encoding: 'utf8', cwd })
    expect(status, stderr).toBe(0)
    return JSON.parse(stdout) as Report
  } finally {
    await rm(out, { recursive: true, force: true })
  }
}

test('only requests that were due during the work and were served count', () => {
  const trace: Traced[] = [
    [0, 999, 70, 200],
    [1, 1000, 10, 200],
    [2, 1500, 20, 200],
    [3, 1600, 80, 503],
    [4, 2000, 90, 200],
  ]
  const { count, max } = latencyWithin({ trace }, [1000, 2000])
  expect(count).toBe(2)
  expect(max).toBeCloseTo(20, 0)
})

test('a few of two hundred rules are large', () => {
  const rules = Array.from({ length: 200 }, (_, n) => mixedRule(n))
  expect(rules.filter((rule) => 'event' in rule)).toHaveLength(5)
  expect(new Set(rules.map((rule) => JSON.stringify(rule))).size).toBe(200)
})
