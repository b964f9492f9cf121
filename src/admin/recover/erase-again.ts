/**
 * A restore undoes the erasures since the backup. This erases the people in Postgres again whom ClickHouse has marked
 * as erased.
 */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { SUBJECTS } from '../verify/kinds.ts'
import { queryClickHouse } from '../verify/query-clickhouse.ts'
import { raiseSequence } from '../verify/resend-visitors.ts'

interface Deps {
  writer: Sql
  clickhouse: ClickHouseClient
  signal: AbortSignal
}

/** Erasure marks per query. */
const PAGE = 5000

/** Returns the number of people. Each one is erased by one statement, so an interrupted run can be repeated. */
export async function eraseAgain(deps: Deps, businessId: string): Promise<number> {
  let erased = 0
  for (let after = SUBJECTS.contact.least; !deps.signal.aborted;) {
    const ids = await readMarks(deps.clickhouse, businessId, after)
    const last = ids.at(-1)
    if (last === undefined) break
    for (const id of await listAlive(deps.writer, businessId, ids)) {
      // ClickHouse has visitors with higher revisions than the sequence of the restored Postgres.
      if (erased === 0) await raiseRevisions(deps)
      await deps.writer`select erase_contact(${businessId}, ${id})`
      erased += 1
    }
    after = last
  }
  return erased
}

async function readMarks(clickhouse: ClickHouseClient, businessId: string, after: string): Promise<string[]> {
  const rows = await queryClickHouse<{ id: string }>(
    clickhouse,
    `select toString(contact_id) as id from contact_redirects final
    where business_id = '${businessId}' and erased = 1 and contact_id > toUUID('${after}') order by contact_id limit ${PAGE}`,
  )
  return rows.map(({ id }) => id)
}

async function listAlive(sql: Sql, businessId: string, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from contacts where business_id = ${businessId} and id = any(${`{${ids.join(',')}}`}::uuid[]) order by id`
  return rows.map(({ id }) => id)
}

async function raiseRevisions({ writer, clickhouse }: Deps): Promise<void> {
  const all = ['visitors', 'visitor_links', 'visitor_touches'].map((table) => `select max(revision) as r from ${table}`)
  await raiseSequence(
    writer,
    await queryClickHouse(clickhouse, `select toString(max(r)) as revision from (${all.join(' union all ')})`),
  )
}
