/** When a view counts as changing, and a statement as too long: then the data is not compared. */
import { expect, test } from 'vitest'
import { fits as viewAgrees } from '../../src/admin/verify/check-views.ts'
import { isTimeout } from '../../src/admin/verify/query-clickhouse.ts'
import { openStack } from '../support/stack.ts'

test.each([
  ['4 events, 1', '5 events, 2', '5 events, 2', true],
  ['4 events, 1', '5 events, 2', '6 events, 3', true],
  ['4 events', '4 events', '5 events', false],
  ['4 events', '3 events', '5 events', false],
  ['4 events', '7 events', '6 events', false],
  ['4 contacts', '5 contacts', '6 contacts', false],
])('tables that held %s, shown as %s, and then %s: %s', (before, shown, after, isWell) => {
  expect(viewAgrees({ before, shown, after })).toBe(isWell)
})

test('a statement that Postgres cancels counts as too long as well', async () => {
  const stack = await openStack()
  const ended = await stack.sql.begin(async (sql) => {
    await sql`set local statement_timeout = 20`
    return await sql.savepoint((inner) => inner`select pg_sleep(5)`).catch((error: unknown) => error)
  })
  await stack.close()
  expect(isTimeout(ended)).toBe(true)
  expect(isTimeout(new Error('away'))).toBe(false)
})
