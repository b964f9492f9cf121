import type { FieldType } from '../rules/events/facts.ts'
import type { ResolvedRule } from '../rules/segments/rule.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { textLiteral } from '../stores/clickhouse-literal.ts'
import type { Sql } from '../stores/postgres.ts'
import { isInvalidQuery } from '../timeline/reading/query-with-retry.ts'
import { COMPILED_SETTINGS, compileToClickHouse } from './compile-to-clickhouse.ts'
import { type ShippingPatience, waitUntilShipped } from './wait-until-shipped.ts'

export interface PreviewQuery {
  businessId: string
  rule: ResolvedRule
  /** Custom fields of the business. */
  fields: ReadonlyMap<string, FieldType>
  /** Number of contacts to name, 0 to 100. */
  sample: number
  /** Epoch milliseconds. */
  now: number
  signal?: AbortSignal
}

export interface Preview {
  count: number
  /** Ids of contacts, newest first. */
  sample: string[]
  /** ISO 8601. */
  asOf: string
}

interface PreviewDeps {
  sql: Sql
  clickhouse: ClickHouseClient
}

const PATIENCE: ShippingPatience = { ms: 3000, whileMovingMs: 10_000 }
/** Limits for a query that a person waits for, so that it does not take the memory that inserts need. */
const LIMITS = { max_execution_time: 10, max_memory_usage: String(1024 ** 3), max_threads: 2 }

/**
 * Counts the contacts for whom a rule is true now. Everything that was answered before the call counts: its saves have
 * reached ClickHouse. Erased people whom ClickHouse does not hide yet are left out. `unavailable` when shipping or the
 * query takes too long. Rejects when the signal aborts.
 */
export async function previewRule(
  { sql, clickhouse }: PreviewDeps,
  query: PreviewQuery,
  patience = PATIENCE,
): Promise<Preview | 'unavailable'> {
  const { businessId, signal } = query
  if (!(await waitUntilShipped(sql, businessId, patience, signal))) return 'unavailable'
  const unhidden = await listUnhidden(sql, businessId)
  try {
    const found = await selectPreview(clickhouse, query, unhidden)
    return { ...found, asOf: new Date(query.now).toISOString() }
  } catch (error) {
    signal?.throwIfAborted()
    if (isInvalidQuery(error)) throw error
    return 'unavailable'
  }
}

/** Returns the ids of erased people whom ClickHouse still shows. */
async function listUnhidden(sql: Sql, businessId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select contact_id as id from erasures where business_id = ${businessId} and deleted_at is null and hidden_at is null`
  return rows.map(({ id }) => id)
}

async function selectPreview(
  clickhouse: ClickHouseClient,
  { rule, sample, signal, ...of }: PreviewQuery,
  unhidden: string[],
): Promise<Pick<Preview, 'count' | 'sample'>> {
  const matching = compileToClickHouse(rule, of)
  const shown = unhidden.length > 0 ? `where contact_id not in (${unhidden.map(textLiteral).join(', ')})` : ''
  const newest = `groupArraySorted(${Math.max(1, sample)})(tuple(-created_ms, toString(contact_id)))`
  const result = await clickhouse.query({
    query: `select count() as count, arrayMap(one -> one.2, ${newest}) as sample from (${matching}) ${shown}`,
    format: 'JSONEachRow',
    clickhouse_settings: { ...COMPILED_SETTINGS, ...LIMITS, output_format_json_quote_64bit_integers: 0 },
    ...(signal && { abort_signal: signal }),
  })
  const [row] = await result.json<{ count: number; sample: string[] }>()
  return { count: row?.count ?? 0, sample: row?.sample.slice(0, sample) ?? [] }
}
