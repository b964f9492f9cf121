/**
 * `npm test`, `npm run test:all` and `npm run test:faults`: runs vitest on Bun, with settings of the runtime that a
 * process reads only at its start. Most threads of a run wait most of the time. The arguments are those of `vitest run`.
 */
import { spawnSync } from 'node:child_process'
import { env, execPath, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { runtimeEnv } from '../src/embedded/processes/runtime-env.ts'

const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

// Keeps the memory that a test has freed: the next test would have to request it again page by page.
const environment = { MIMALLOC_PURGE_DELAY: '-1', ...env, ...runtimeEnv() }
const { status } = spawnSync(execPath, ['--bun', VITEST, 'run', ...process.argv.slice(2)], {
  env: environment,
  stdio: 'inherit',
})
exit(status ?? 1)
