/** Anyone may request the readiness check, so the files that it compares the database with are read only once. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { pendingMigrations as PendingMigrations } from '../../src/migrate/migrate.ts'
import { openStack } from '../support/stack.ts'

const THIS = fileURLToPath(new URL('../..', import.meta.url))
const copy = mkdtempSync(join(tmpdir(), 'sluice-copy-'))
afterAll(() => rmSync(copy, { recursive: true }))

test('what this version expects of the databases is read once', async () => {
  const dashboard = join(THIS, 'src/dashboard')
  for (const name of ['src', 'sql', 'package.json'])
    cpSync(join(THIS, name), join(copy, name), { recursive: true, filter: (path) => path !== dashboard })
  symlinkSync(join(THIS, 'node_modules'), join(copy, 'node_modules'))
  const { pendingMigrations } = (await import(pathToFileURL(join(copy, 'src/migrate/migrate.ts')).href)) as {
    pendingMigrations: typeof PendingMigrations
  }
  const stack = await openStack()
  expect(await pendingMigrations(stack.sql)).toEqual([])
  rmSync(join(copy, 'sql'), { recursive: true })
  await stack.sql`update migrations set checksum = 'another' where name = 'postgres/0006_visitors.sql'`
  expect(await pendingMigrations(stack.sql)).toEqual(['postgres/0006_visitors.sql'])
  await stack.close()
})
