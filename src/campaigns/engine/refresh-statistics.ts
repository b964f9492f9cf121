/**
 * The engine's connections plan each statement once, for the table sizes that Postgres knows. For tables with a few
 * rows all indexes cost the same, and such a plan can read all rows of a business. So tables that have grown are
 * analysed before autovacuum does it, and every session then plans again.
 */
import type { Sql } from '../../stores/postgres.ts'

/** Tables that a claim and its messages read by key. */
const TABLES = [
  'due_steps',
  'messages',
  'enrolments',
  'keyed_enrolments',
  'goal_times',
  'contacts',
  'identities',
  'subscriptions',
  'event_statistics',
  'revenue',
  'logged_messages',
]
/** About 250 KB. Below this size, any plan is good enough. */
const FEW_PAGES = 32

/**
 * Returns the tables that have grown to more than twice the size that Postgres knew. Tables that are already being
 * analysed are left out.
 */
export async function refreshStatistics(sql: Sql): Promise<string[]> {
  const grown = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.oid = any (${`{${TABLES.join(',')}}`}::text::regclass[])
      and pg_relation_size(c.oid) / current_setting('block_size')::bigint > 2 * greatest(c.relpages, 0) + ${FEW_PAGES}::bigint
    order by 1`
  for (const { name } of grown) await sql`analyze (skip_locked) ${sql(name)}`
  return grown.map(({ name }) => name)
}
