import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { insertStates } from '../../stores/insert-states.ts'

interface Deps {
  sql: Sql
  clickhouse: ClickHouseClient
}

/**
 * Milliseconds after an edit in which definitions are always compared: a transaction may show an earlier time than one
 * that ended before it.
 */
const RECENT_MS = 10_000
/** Maximum milliseconds between two comparisons: ClickHouse may have lost definitions. */
const COMPARE_MS = 60_000
/** Definitions per insert: a rule has at most 32 KiB. */
const BATCH = 200

/**
 * Makes the segment definitions in ClickHouse equal to those in Postgres. It compares them when something has changed.
 * Each call makes one short query in Postgres, and most calls make no other. A crash at any point leaves a difference
 * that the next comparison finds.
 */
export function createDefinitionSender(deps: Deps): () => Promise<void> {
  let compared = { state: '', at: -Infinity }
  return async () => {
    const { state, isRecent } = await look(deps.sql)
    const now = performance.now()
    if (state === compared.state && !isRecent && now < compared.at + COMPARE_MS) return
    await sendSegmentDefinitions(deps)
    compared = { state, at: now }
  }
}

async function look(sql: Sql): Promise<{ state: string; isRecent: boolean }> {
  const [row] = await sql<[{ state: string; isRecent: boolean }]>`
    select concat(count(*), ' ', max(updated_at)) as state,
      coalesce(max(updated_at) > now() - ${RECENT_MS} * interval '1 millisecond', false) as "isRecent"
    from segments`
  return row
}

/** The part of a definition that is compared between the stores. */
interface Known {
  business_id: string
  segment_id: string
  fingerprint: string
}

interface Sent extends Known {
  revision: number
}

/**
 * Reads ClickHouse first, so that a segment that ClickHouse has and Postgres does not have was deleted. When two
 * processes send at once, the older definition may arrive last; the next comparison finds it.
 */
export async function sendSegmentDefinitions({ sql, clickhouse }: Deps): Promise<void> {
  const sent = new Map((await readSent(clickhouse)).map((one) => [one.segment_id, one]))
  const wanted = await listDefinitions(sql)
  const kept = new Set(wanted.map(({ segment_id }) => segment_id))
  const changed = wanted.filter(({ segment_id, fingerprint }) => sent.get(segment_id)?.fingerprint !== fingerprint)
  for (let at = 0; at < changed.length; at += BATCH) {
    const definitions = await readDefinitions(sql, changed.slice(at, at + BATCH))
    const lines = definitions.map((one) => ({ ...one, revision: (sent.get(one.segment_id)?.revision ?? 0) + 1 }))
    await insertStates(
      clickhouse,
      'segment_definitions',
      lines.map((line) => JSON.stringify(line)),
    )
  }
  const gone = [...sent.values()].filter(({ segment_id, fingerprint }) => fingerprint !== '' && !kept.has(segment_id))
  const marks = gone.map((one) => ({ ...one, revision: one.revision + 1, fingerprint: '', deleted: 1 }))
  await insertStates(
    clickhouse,
    'segment_definitions',
    marks.map((mark) => JSON.stringify(mark)),
  )
}

/** The fingerprint of a deleted definition is empty. */
async function readSent(clickhouse: ClickHouseClient): Promise<Sent[]> {
  const result = await clickhouse.query({
    query: `select business_id, segment_id, revision, fingerprint from segment_definitions final
      settings output_format_json_quote_64bit_integers = 0`,
    format: 'JSONEachRow',
  })
  return await result.json<Sent>()
}

const fingerprintOf = (sql: Sql) => sql`md5(concat_ws(' ', version, name, rule))`

async function listDefinitions(sql: Sql): Promise<Known[]> {
  return await sql<Known[]>`
    select business_id, id as segment_id, ${fingerprintOf(sql)} as fingerprint from segments`
}

async function readDefinitions(sql: Sql, some: Known[]): Promise<(Known & { name: string; rule: string })[]> {
  return await sql<(Known & { name: string; rule: string; version: number })[]>`
    select s.business_id, s.id as segment_id, s.name, s.rule::text as rule, s.version, ${fingerprintOf(sql)} as fingerprint
    from json_to_recordset(${JSON.stringify(some)}::text::json) as x (business_id uuid, segment_id uuid)
    join segments s on s.business_id = x.business_id and s.id = x.segment_id`
}
