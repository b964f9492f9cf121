/** The scenario of analytics with few events: it measures every chart, and each is answered. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runtimeCommand } from '../../src/embedded/run-engine.ts'
import { CHARTS } from './analytics/charts.ts'
import type { Report } from './render-report.ts'

const SMALL = ['--quick', '--scenario', 'analytics', '--events', '20000']
/** A product is started, and must finish everything. */
const LIMIT_MS = 600_000

test('gives a figure for each chart', { timeout: LIMIT_MS }, async () => {
  const out = await mkdtemp(join(tmpdir(), 'sluice-analytics-bench-'))
  try {
    const module = new URL('run.ts', import.meta.url)
    const [command = '', ...args] = runtimeCommand(module, [...SMALL, '--json', '--out', out])
    const cwd = fileURLToPath(new URL('.', import.meta.url))
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd })
    expect(status, stderr).toBe(0)
    const [scenario] = (JSON.parse(stdout) as Report).scenarios
    const checks = scenario?.outcome?.checks ?? []
    const charts = checks.filter(({ goal }) => CHARTS.some(({ name }) => goal.startsWith(name)))
    expect(charts.length).toBe(CHARTS.reduce((sum, { intervals }) => sum + (intervals ? 2 : 1), 0))
    for (const { figure } of charts) expect(figure).not.toContain('answered')
  } finally {
    await rm(out, { recursive: true, force: true })
  }
})
