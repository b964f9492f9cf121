import { defineConfig } from 'vitest/config'

const onBun = 'bun' in process.versions
// Libraries have parts for each runtime: without this, tests on Bun would run those for Node.
const conditions = onBun ? ['bun', 'module', 'node'] : undefined

export default defineConfig({
  ssr: { resolve: { ...(conditions && { conditions, externalConditions: conditions }) } },
  test: {
    include: ['test/**/*.test.ts'],
    // Bun runs tests in threads alone; the engines' native addons want processes elsewhere.
    pool: onBun ? 'threads' : 'forks',
    maxWorkers: 2,
    globalSetup: 'test/support/run-engines.ts',
    // Some tests measure time, and a machine that is busy for a moment fails them. A second failure is a fault.
    retry: process.env['CI'] ? 1 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
