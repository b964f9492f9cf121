import { env } from 'node:process'
import { afterEach, expect, test } from 'vitest'
import { CALM, calmRuntime } from '../../src/embedded/runtime-env.ts'

const name = 'BUN_GC_TIMER_INTERVAL'
const before = env[name]
afterEach(() => {
  if (before === undefined) delete env[name]
  else env[name] = before
})

test('the runtime is calmed but where the operator has said otherwise', () => {
  delete env[name]
  expect(calmRuntime()[name]).toBe(CALM[name])
  env[name] = '1000'
  expect(calmRuntime()).not.toHaveProperty(name)
})
