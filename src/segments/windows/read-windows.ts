/** Reads counts and sums of contacts from the timeline in ClickHouse. */
import { spanOf } from '../../rules/segments/compile/compare-dates.ts'
import { addDecimals } from '../../rules/segments/add-decimals.ts'
import type { WindowedCondition } from '../../rules/segments/rule.ts'
import { type WindowEvent, type WindowReading, emptyReading } from '../../rules/segments/windows/window-reading.ts'
import type { Window } from '../../rules/segments/windows/windows-of.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { COMPILED_SETTINGS } from '../compile-to-clickhouse.ts'
import { readableJson } from '../clickhouse/json-sql.ts'
import { PROPERTIES, addedSql, timelessSql } from '../clickhouse/windows-sql.ts'

export interface WindowQuery {
  businessId: string
  windows: readonly Window[]
  /** All ids of the contacts, including those that were merged into them. */
  contactIds: readonly string[]
  /** Epoch milliseconds. Events that were received, or left their window, since then are read one by one. */
  from: number
  until: number
}

/** By the id under which a contact was recorded, and by key. Without an entry there are no events. */
export type Readings = Map<string, Map<string, WindowReading>>

/** Maximum number of ids in one query, because ClickHouse parses its text before running it. */
const MAX_IDS = 5000
const CONCURRENT = 4
/** ClickHouse is queried for one window at a time. For many contacts this takes a few seconds at most. */
const TIMEOUT_MS = 30_000

export async function readWindows(
  clickhouse: ClickHouseClient,
  query: WindowQuery,
  signal: AbortSignal,
): Promise<Readings> {
  const readings: Readings = new Map()
  const asked = chunksOf(query.contactIds).flatMap((ids) => query.windows.map((window) => ({ window, ids })))
  const next = async (): Promise<void> => {
    for (let one = asked.pop(); one; one = asked.pop()) {
      const text = textOf(one.window.condition, { ...query, contactIds: one.ids })
      addRows(readings, one.window.key, await select(clickhouse, text, signal))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, next))
  return readings
}

function chunksOf(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / MAX_IDS) }, (_, n) => ids.slice(n * MAX_IDS, (n + 1) * MAX_IDS))
}

type Row = [
  contactId: string,
  count: number,
  total: string,
  leavesAt: number,
  recent: [receivedAt: number, leavesAt: number, added: string, isBatch: number][],
]

async function select(clickhouse: ClickHouseClient, query: string, signal: AbortSignal): Promise<Row[]> {
  const result = await clickhouse.query({
    query,
    format: 'JSONCompactEachRow',
    abort_signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    clickhouse_settings: { ...COMPILED_SETTINGS, output_format_json_quote_64bit_integers: 0 },
  })
  return await result.json<Row>()
}

/** The first millisecond at which an event is outside of a window that it never leaves. */
const NEVER = Number.MAX_SAFE_INTEGER

function textOf(
  condition: WindowedCondition,
  { businessId, contactIds, from, until }: Omit<WindowQuery, 'windows'>,
): string {
  const { withinDays } = condition
  const leavesAt = withinDays === undefined ? `toInt64(${NEVER})` : `occurred_ms + ${spanOf(withinDays) + 1}`
  const { added, isAdded } = condition.metric === 'sum' ? addedSql(condition) : { added: `'0'`, isAdded: '1' }
  const total = condition.metric === 'sum' ? 'toString(sumIf(added, is_before))' : `'0'`
  return `
    select contact_id, countIf(is_before), ${total}, minIf(leaves_at, is_before),
      groupArrayIf((received_ms, leaves_at, toString(added), source = 'batch'), not is_before)
    from (
      select contact_id, received_ms, source, ${leavesAt} as leaves_at, ${added} as added,
        received_ms < ${from} and leaves_at > ${until} as is_before
      from (select *, ${readableJson('properties')} as ${PROPERTIES} from events)
      where business_id = ${textLiteral(businessId)} and contact_id in (${contactIds.map(textLiteral).join(', ')})
        and ${timelessSql(condition)} and ${isAdded} and leaves_at >= ${from}
    )
    group by contact_id`
}

function addRows(readings: Readings, key: string, rows: Row[]): void {
  for (const [contactId, count, total, leavesAt, recent] of rows) {
    const ofContact = readings.get(contactId) ?? new Map<string, WindowReading>()
    readings.set(contactId, ofContact)
    const reading = {
      count,
      total,
      leavesAt: count === 0 ? null : orNever(leavesAt),
      recent: recent.map(([receivedAt, leaves, added, isBatch]): WindowEvent => ({
        receivedAt,
        leavesAt: orNever(leaves),
        added,
        isBatch: isBatch === 1,
      })),
    }
    ofContact.set(key, reading)
  }
}

const orNever = (at: number): number | null => (at === NEVER ? null : at)

/** Returns the readings of one contact by key: those of all its ids combined. */
export function uniteReadings(readings: Readings, ids: readonly string[]): Map<string, WindowReading> {
  const united = new Map<string, WindowReading>()
  for (const id of ids)
    for (const [key, reading] of readings.get(id) ?? [])
      united.set(key, addReadings(united.get(key) ?? emptyReading(), reading))
  return united
}

function addReadings(a: WindowReading, b: WindowReading): WindowReading {
  const leaving = [a.leavesAt, b.leavesAt].filter((at) => at !== null)
  return {
    count: a.count + b.count,
    total: addDecimals(a.total, b.total),
    leavesAt: leaving.length === 0 ? null : Math.min(...leaving),
    recent: [...a.recent, ...b.recent],
  }
}
