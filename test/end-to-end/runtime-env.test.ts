import { env } from 'node:process'
import { afterEach, expect, test } from 'vitest'
import { RUNTIME_ENV, runtimeEnv } from '../../src/embedded/processes/runtime-env.ts'

const name = 'BUN_GC_TIMER_INTERVAL'
const before = env[name]
afterEach(() => {
  if (before === undefined) delete env[name]
  else env[name] = before
})

test('the memory options of the runtime are set unless the operator has set others', () => {
  delete env[name]
  expect(runtimeEnv()[name]).toBe(RUNTIME_ENV[name])
  env[name] = '1000'
  expect(runtimeEnv()[name]).toBe('1000')
})
