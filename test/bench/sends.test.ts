/** The scenario of sends with few messages: it measures everything, and what it measures is right. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runtimeCommand } from '../../src/embedded/run-engine.ts'
import type { Report } from './render-report.ts'

const SMALL = ['--quick', '--scenario', 'sends', '--sends', '200', '--waiting', '1000']
/** A product is started, and must finish everything. */
const LIMIT_MS = 600_000

test('gives a figure for each goal', { timeout: LIMIT_MS }, async () => {
  const out = await mkdtemp(join(tmpdir(), 'sluice-sends-bench-'))
  try {
    const module = new URL('run.ts', import.meta.url)
    const [command = '', ...args] = runtimeCommand(module, [...SMALL, '--json', '--out', out])
    const cwd = fileURLToPath(new URL('.', import.meta.url))
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd })
    expect(status, stderr).toBe(0)
    const [scenario] = (JSON.parse(stdout) as Report).scenarios
    expect(scenario?.outcome?.checks.map(({ goal }) => goal)).toEqual([
      '200 messages at once, CPU of Postgres each ≤ 150 µs',
      '200 messages at once ≥ 5,000 /s',
      'Postgres, times what the rows alone cost it',
      'from the event to the message, 400 live events/s',
      'no error',
      'live p99, 400/s, beside messages at once',
      'no error',
      'at rest, 1,000 enrolments wait',
    ])
  } finally {
    await rm(out, { recursive: true, force: true })
  }
})
