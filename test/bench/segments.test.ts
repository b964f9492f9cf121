/** The scenario of segments with few contacts: it measures everything, and what it measures is right. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runtimeCommand } from '../../src/embedded/run-engine.ts'
import type { Report } from './render-report.ts'

const SMALL = [
  '--quick',
  '--scenario',
  'segments',
  '--herd',
  '200',
  '--clock-rows',
  '1000',
  '--contacts',
  '200',
  '--events',
  '2000',
]
/** A product is started, and must finish everything. */
const LIMIT_MS = 600_000

test('gives a figure for each goal', { timeout: LIMIT_MS }, async () => {
  const out = await mkdtemp(join(tmpdir(), 'sluice-segments-bench-'))
  try {
    const module = new URL('run.ts', import.meta.url)
    const [command = '', ...args] = runtimeCommand(module, [...SMALL, '--json', '--out', out])
    const cwd = fileURLToPath(new URL('.', import.meta.url))
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd })
    expect(status, stderr).toBe(0)
    const [scenario] = (JSON.parse(stdout) as Report).scenarios
    expect(scenario?.outcome?.checks.map(({ goal }) => goal)).toEqual([
      'CPU an event with 1,000 segments, 3 touched, grows ≤ 10 %',
      'no error',
      'no error',
      '200 due in one second settle ≥ 15,000 /s',
      'idle, 1,000 clock rows',
      'preview, 200 contacts',
      'new segment until ready, 200 contacts',
      'new segment of few, 200 contacts',
      'memory of the workers',
    ])
  } finally {
    await rm(out, { recursive: true, force: true })
  }
})
