/** Backups that are taken while everything runs, and restored while nothing does. */
import postgres from 'postgres'
import type { Stack } from '../support/stack.ts'

/** A consistent copy of every table and sequence, as made by `pg_dump`. */
export interface PostgresBackup {
  /** The rows of each table as JSON. */
  tables: Map<string, string>
  sequences: { name: string; value: string }[]
}

export async function backUpPostgres({ databaseUrl }: Stack): Promise<PostgresBackup> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    return await sql.begin('isolation level repeatable read read only', async (snapshot) => {
      const tables = new Map<string, string>()
      for (const name of await listTables(snapshot)) {
        const [row] = await snapshot<[{ rows: string }]>`
          select coalesce(json_agg(t), '[]')::text as rows from ${snapshot(name)} t`
        tables.set(name, row.rows)
      }
      const sequences = await snapshot<{ name: string; value: string }[]>`
        select sequencename as name, coalesce(last_value, 1)::text as value from pg_sequences where schemaname = 'public'`
      return { tables, sequences: [...sequences] }
    })
  } finally {
    await sql.end()
  }
}

export async function restorePostgres({ databaseUrl }: Stack, { tables, sequences }: PostgresBackup): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    const names = await listTables(sql)
    await sql.unsafe(`truncate ${names.map((name) => `"${name}"`).join(', ')}`)
    for (const name of names)
      await sql`
        insert into ${sql(name)} overriding system value
        select * from json_populate_recordset(null::${sql(name)}, ${tables.get(name) ?? '[]'}::text::json)`
    for (const { name, value } of sequences) await sql`select setval(${name}, ${value}::text::bigint)`
  } finally {
    await sql.end()
  }
}

/** Lists tables so that those that others refer to come first. */
async function listTables(sql: postgres.Sql | postgres.TransactionSql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    with recursive depths (oid, depth) as (
      select c.oid, 0 from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      union
      select f.conrelid, d.depth + 1 from depths d
      join pg_constraint f on f.contype = 'f' and f.confrelid = d.oid and f.conrelid <> d.oid
    )
    select c.relname as name from depths d join pg_class c on c.oid = d.oid
    group by c.relname order by max(d.depth), c.relname`
  return rows.map(({ name }) => name)
}

const TABLES = [
  'events',
  'event_statistics',
  'contact_snapshots',
  'contact_redirects',
  'visitors',
  'visitor_links',
  'visitor_touches',
  'web_events',
]
const FEEDS = ['event_statistics_feed', 'contact_redirects_feed']

/** Backs up table by table, as `backup database` does: the copy of one table may be newer than that of another. */
export async function backUpClickHouse({ clickhouse }: Stack): Promise<void> {
  for (const table of TABLES)
    await clickhouse.command({ query: `create table ${table}_kept engine = Memory as select * from ${table}` })
}

export async function restoreClickHouse({ clickhouse }: Stack): Promise<void> {
  for (const feed of FEEDS) await clickhouse.command({ query: `detach table ${feed}` })
  for (const table of TABLES) {
    await clickhouse.command({ query: `truncate table ${table}` })
    await clickhouse.command({ query: `insert into ${table} select * from ${table}_kept` })
    await clickhouse.command({ query: `drop table ${table}_kept sync` })
  }
  for (const feed of FEEDS) await clickhouse.command({ query: `attach table ${feed}` })
}
