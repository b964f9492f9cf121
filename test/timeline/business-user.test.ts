/**
 * The users of a ClickHouse server for the SQL page. Only the engine's parser is used, because the embedded engine has
 * a single user.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { Logger } from '../../src/log.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { tablesOfBusinesses } from '../../src/stores/restrict-to-business.ts'
import { businessUserOf, businessUserStatements } from '../../src/analytics/sql-page/business-user.ts'
import { createStatementRunner } from '../../src/analytics/sql-page/statement-runner.ts'

const business = randomUUID()
const never = new AbortController().signal

let owner: ClickHouseClient
let tables: string[]
beforeAll(async () => {
  owner = connectClickHouse(inject('stores').clickhouseUrl)
  const { databases } = owner
  const query = tablesOfBusinesses([databases.public, databases.internal])
  const found = await owner.query({ query, format: 'JSONCompactEachRow' })
  tables = (await found.json<[string]>()).map(([table]) => table)
})
afterAll(() => owner.close())

const statements = () =>
  businessUserStatements(owner.databases, businessUserOf(owner.databases, business, 'password'), business, tables)

it('can be made by statements that ClickHouse reads', async () => {
  for (const statement of statements()) {
    const found = await owner.query({
      query: 'select formatQuerySingleLine({statement: String}) as text',
      query_params: { statement },
      format: 'JSONEachRow',
    })
    const [{ text } = { text: '' }] = await found.json<{ text: string }>()
    expect(text).toMatch(/^(CREATE USER IF NOT EXISTS|ALTER USER|GRANT SELECT ON) /)
  }
})

it('read the public views alone, and none with parameters', () => {
  const granted = statements().flatMap((statement) => /^grant select on (\S+) to/.exec(statement)?.[1] ?? [])
  expect(granted).toContain('`sluice`.`contacts`')
  expect(granted.filter((name) => !name.startsWith('`sluice`.'))).toEqual([])
  expect(granted.filter((name) => name.includes('event_funnel') || name.includes('event_retention'))).toEqual([])
})

it('are restricted in every table of both databases, by settings that they cannot change', () => {
  expect(tables.length).toBeGreaterThan(25)
  for (const statement of statements().filter((one) => !one.startsWith('grant'))) {
    expect(statement).toContain("readonly = '1'")
    for (const table of tables) expect(statement).toContain(`\\'${table}\\': \\'business_id = `)
  }
})

it('have a name and a password of their own for each business and database', () => {
  const one = businessUserOf(owner.databases, business, 'password')
  expect(one).toEqual({ name: `analyst_${business}`, password: expect.stringMatching(/^[\da-f]{64}$/) as string })
  expect(businessUserOf({ public: 'other', internal: 'other_internal' }, business, 'password').name).toBe(
    `analyst_other_${business}`,
  )
  const passwords = [
    one,
    businessUserOf(owner.databases, randomUUID(), 'password'),
    businessUserOf(owner.databases, business, 'another password'),
  ].map(({ password }) => password)
  expect(new Set(passwords).size).toBe(3)
})

it('are needed: without them no statement runs, and the log names no password', async () => {
  const logged: unknown[] = []
  const log = { warn: (...line: unknown[]) => logged.push(line) } as unknown as Logger
  const { clickhouseUrl } = inject('stores')
  const options = { clickhouse: owner, clickhouseUrl, analystUrl: undefined, log }
  const statement = { businessId: business, text: 'select 1', parameters: {} }
  expect(await createStatementRunner({ ...options, analystPassword: undefined })(statement, never)).toBe('not_set_up')
  // The engine of the tests does not allow anyone to create users.
  expect(await createStatementRunner({ ...options, analystPassword: 'a password' })(statement, never)).toBe(
    'not_set_up',
  )
  expect(logged).toEqual([[{ user: `analyst_${business}`, reason: 'ACCESS_DENIED' }, expect.any(String)]])
})

it('a ClickHouse that is away is said to be so', async () => {
  const options = { clickhouse: owner, clickhouseUrl: 'http://127.0.0.1:1', analystPassword: undefined }
  const log = {} as Logger
  const run = createStatementRunner({ ...options, analystUrl: 'http://analyst:x@127.0.0.1:1/sluice', log })
  expect(await run({ businessId: business, text: 'select 1', parameters: {} }, never)).toBe('no_answer')
})
