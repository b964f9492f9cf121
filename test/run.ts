/**
 * `npm test` and `npm run test:all`: vitest on Bun, with settings of the runtime that a process only takes at its start. Most
 * threads of a run wait most of the time. Arguments are those of `vitest run`.
 */
import { spawnSync } from 'node:child_process'
import { env, execPath, exit } from 'node:process'
import { fileURLToPath } from 'node:url'
import { runtimeEnv } from '../src/embedded/runtime-env.ts'

const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))

// Memory that a test gave back is taken again by the next one, page by page.
const environment = { MIMALLOC_PURGE_DELAY: '-1', ...env, ...runtimeEnv() }
const { status } = spawnSync(execPath, ['--bun', VITEST, 'run', ...process.argv.slice(2)], {
  env: environment,
  stdio: 'inherit',
})
exit(status ?? 1)
