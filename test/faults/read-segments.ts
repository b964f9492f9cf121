/** Reads the content of Postgres and ClickHouse for the segments of one business. */
import type { SegmentChangeRow } from '../../src/outbox/segment-change-row.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import type { Queryable } from '../../src/stores/postgres.ts'
import type { Happened } from '../segments/naive-windows.ts'
import {
  type PlainContact,
  type PlainRule,
  readFields,
  readMembers,
  readPlainFacts,
  readRules,
  readSizes,
} from '../segments/model/plain-facts.ts'
import type { FieldType } from '../../src/rules/events/facts.ts'
import type { Stores } from './read-held.ts'

export interface HeldSegments {
  contacts: Map<string, PlainContact>
  fields: Map<string, FieldType>
  rules: PlainRule[]
  members: Map<number, Set<string>>
  sizes: Map<number, number>
  /** Until when the counts and sums of each contact are valid, in epoch milliseconds. */
  windowsDueAt: Map<string, number>
  /** Survivors of merged contacts, by id. */
  survivors: Map<string, string>
  /** Changes in the outbox, which Postgres keeps for longer than a run. */
  kept: { change: SegmentChangeRow; isShipped: boolean }[]
}

/** Reads everything as of one instant. */
export async function readPostgres({ sql }: Stores, businessId: string): Promise<HeldSegments> {
  return await sql.begin('isolation level repeatable read read only', async (tx) => ({
    contacts: await readPlainFacts(tx, businessId),
    fields: await readFields(tx, businessId),
    rules: await readRules(tx, businessId),
    members: await readMembers(tx, businessId),
    sizes: await readSizes(tx, businessId),
    windowsDueAt: await readWindowsDue(tx, businessId),
    survivors: await readSurvivors(tx, businessId),
    kept: await readKept(tx, businessId),
  }))
}

async function readWindowsDue(sql: Queryable, businessId: string): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; due: number }[]>`
    select contact_id as id, min(next_at) as due from segment_windows
    where business_id = ${businessId} and next_at is not null group by 1`
  return new Map(rows.map(({ id, due }) => [id, due]))
}

async function readSurvivors(sql: Queryable, businessId: string): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; survivor: string }[]>`
    select id, merged_into as survivor from contacts where business_id = ${businessId} and merged_into is not null`
  return new Map(rows.map(({ id, survivor }) => [id, survivor]))
}

async function readKept(sql: Queryable, businessId: string): Promise<HeldSegments['kept']> {
  const rows = await sql<{ lines: string; isShipped: boolean }[]>`
    select segment_changes as lines, shipped_at is not null as "isShipped" from outbox
    where segment_changes is not null order by id`
  return rows.flatMap(({ lines, isShipped }) =>
    lines
      .split('\n')
      .map((line) => ({ change: JSON.parse(line) as SegmentChangeRow, isShipped }))
      .filter(({ change }) => change.business_id === businessId),
  )
}

/** Returns every row, including duplicates. */
export async function readShipped({ clickhouse }: Stores, businessId: string): Promise<SegmentChangeRow[]> {
  const query = `select business_id, segment_id, contact_id, change_id, at_ms, entered, cause
    from segment_changes where business_id = {businessId: UUID}`
  return await ask<SegmentChangeRow>(clickhouse, query, { businessId })
}

/** By the contact for which they were recorded. */
export async function readEvents(
  { clickhouse }: Stores,
  businessId: string,
  names: string[],
): Promise<Map<string, Happened[]>> {
  const query = `select contact_id, event, occurred_ms as at, properties, value, currency, toString(counted) as counted, type
    from events where business_id = {businessId: UUID} and event in {names: Array(String)}`
  const rows = await ask<Happened & { contact_id: string }>(clickhouse, query, { businessId, names })
  return Map.groupBy(rows, ({ contact_id }) => contact_id)
}

async function ask<Row>(
  clickhouse: ClickHouseClient,
  query: string,
  query_params: Record<string, unknown>,
): Promise<Row[]> {
  const clickhouse_settings = { output_format_json_quote_64bit_integers: 0 } as const
  const result = await clickhouse.query({ query, query_params, format: 'JSONEachRow', clickhouse_settings })
  return await result.json<Row>()
}
