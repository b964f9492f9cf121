/** Anyone may request the readiness check, so the files that it compares the database with are read only once. */
import { readFile } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'
import { pendingMigrations } from '../../src/migrate/migrate.ts'
import { openStack } from '../support/stack.ts'

vi.mock(import('node:fs/promises'), { spy: true })

test('what this version expects of the databases is read once', async () => {
  const stack = await openStack()
  const reads = vi.mocked(readFile).mock
  expect(await pendingMigrations(stack.sql)).toEqual([])
  const before = reads.calls.length
  expect(before).toBeGreaterThan(0)
  await stack.sql`update migrations set checksum = 'another' where name = 'postgres/0006_visitors.sql'`
  expect(await pendingMigrations(stack.sql)).toEqual(['postgres/0006_visitors.sql'])
  expect(reads.calls).toHaveLength(before)
  await stack.close()
})
