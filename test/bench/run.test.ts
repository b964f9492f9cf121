import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runtimeCommand } from '../../src/embedded/run-engine.ts'
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

test.each([['--scenario', 'tracks'], ['--herd', '0'], ['--quik'], ['saturation']])(
  '%s %s makes no sense, and starts nothing',
  (...args) => {
    const { status, stderr } = run(...args)
    expect(status).toBe(2)
    expect(stderr).toContain('Usage: bun run bench')
  },
)
