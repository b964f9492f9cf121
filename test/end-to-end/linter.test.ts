// @long
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('a promise that is not awaited fails the linter', async () => {
  const directory = mkdtempSync(join(root, 'test', 'floating-'))
  try {
    writeFileSync(join(directory, 'floating.ts'), 'export function forget(): void {\n  Promise.resolve(1)\n}\n')
    const lint = promisify(execFile)('node_modules/.bin/oxlint', ['--type-aware', directory], { cwd: root })
    await expect(lint).rejects.toMatchObject({ stdout: expect.stringContaining('no-floating-promises') as string })
  } finally {
    rmSync(directory, { recursive: true })
  }
})
