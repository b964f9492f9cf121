/**
 * The engine's connections plan each statement once, for the tables as large as Postgres knows them to be. On tables of a few rows all
 * indexes cost the same, and a plan for them can read all rows of a business. So tables that have grown are analysed before the autovacuum
 * comes to it: every session then plans anew.
 */
import type { Sql } from '../../stores/postgres.ts'

/** What a claim and its messages read by keys. */
const TABLES = [
  'due_steps',
  'messages',
  'enrolments',
  'contacts',
  'identities',
  'subscriptions',
  'event_statistics',
  'revenue',
  'logged_messages',
]
/** Some 250 KB: below, it does not matter what is read. */
const FEW_PAGES = 32

/** Returns which tables have grown to more than twice what Postgres knew. One that is being analysed otherwise is left. */
export async function refreshStatistics(sql: Sql): Promise<string[]> {
  const grown = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.oid = any (${`{${TABLES.join(',')}}`}::text::regclass[])
      and pg_relation_size(c.oid) / current_setting('block_size')::bigint > 2 * greatest(c.relpages, 0) + ${FEW_PAGES}::bigint
    order by 1`
  for (const { name } of grown) await sql`analyze (skip_locked) ${sql(name)}`
  return grown.map(({ name }) => name)
}
