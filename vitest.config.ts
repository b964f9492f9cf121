import { defineConfig } from 'vitest/config'

const onBun = 'bun' in process.versions

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Bun runs tests in threads alone; the engines' native addons want processes elsewhere.
    pool: onBun ? 'threads' : 'forks',
    maxWorkers: 2,
    globalSetup: 'test/support/run-engines.ts',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
