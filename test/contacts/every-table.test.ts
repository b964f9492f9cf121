/** No table that says whose a row is may be forgotten by a merge or by an erasure: the catalogue is asked which there are. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Stack, openStack } from '../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await openStack()
})
afterAll(() => stack.close())

/** Columns with the id of a contact, and why the function leaves them as they are. */
const LEFT: Record<string, Record<string, string>> = {
  merge_contacts: {
    'dead_letters.contact_id': 'a line that ClickHouse cannot read stays as it was shipped',
    'erasures.contact_id': 'an erased contact is merged with nobody',
    'erasures.erased_as': 'as above',
    'idempotency_keys.contact_id': 'a repeat resolves it to the survivor',
    'merge_log.contact_id': 'the log says what the ids were then',
    'merge_log.losing_id': 'as above',
    'outbox.contact_ids': 'what was shipped so far is shipped again under the survivor: save_changes adds a row',
  },
  erase_contact: {
    'dead_letters.contact_id': 'src/timeline/mask-erased-contacts.ts deletes such lines',
    'idempotency_keys.contact_id': 'the hashes of keys stay, so that a repeat applies nothing',
    'outbox.contact_ids': 'src/outbox/scrub-outbox.ts takes the person out of it',
  },
}

it.each(Object.keys(LEFT))('%s names every column with the id of a contact', async (name) => {
  const text = readFileSync(new URL(`../../sql/postgres/functions/${name}.sql`, import.meta.url), 'utf8')
  const statements = text.replaceAll(/--.*/g, '').split(';')
  const columns = await stack.sql<{ table: string; column: string }[]>`
    select c.table_name as table, c.column_name as column
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
      and (c.column_name ~ '(^|_)contact_ids?$' or c.column_name in ('waits_for', 'losing_id', 'erased_as', 'merged_into'))
    order by 1, 2`
  expect(columns.length).toBeGreaterThan(15)
  const isNamed = ({ table, column }: { table: string; column: string }) =>
    statements.some((one) => new RegExp(`\\b(update|from|into) ${table}\\b`).test(one) && one.includes(column))
  const missing = columns.filter((one) => !isNamed(one)).map(({ table, column }) => `${table}.${column}`)
  expect(missing.filter((one) => !(one in LEFT[name]!))).toEqual([])
  expect(Object.keys(LEFT[name]!).filter((one) => !columns.some((c) => `${c.table}.${c.column}` === one))).toEqual([])
})
