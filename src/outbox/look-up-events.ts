import type { ClickHouseClient } from '../stores/clickhouse.ts'
import { EVENT_COLUMNS, SELECT_EVENT, type TimelineRow } from './timeline-row.ts'

/** Whether ClickHouse has an event. `right`: once and as recorded. `wrong`: several times, or not as recorded. */
export type Presence = 'right' | 'wrong' | 'absent'

/** Lists of ids make long statements, and ClickHouse limits the length of a statement. */
export const LONG_STATEMENT_SETTINGS = { max_query_size: '67108864' }

/** Differs between copies that differ in any column. */
const FINGERPRINT = `cityHash64(toString((${EVENT_COLUMNS.filter((column) => column !== 'event_id').join(', ')})))`

/** An event that should be in ClickHouse, and all copies of it under its contact. */
interface Found {
  wanted: TimelineRow
  copies: { row: TimelineRow; fingerprint: string }[]
}

/** Returns the presence of each of these events, by id. */
export async function lookUpEvents(
  clickhouse: ClickHouseClient,
  wanted: TimelineRow[],
): Promise<Map<string, Presence>> {
  const found = await findCopies(clickhouse, wanted)
  return new Map(found.map((event) => [event.wanted.event_id, presenceOf(event)]))
}

/**
 * Deletes all wrong copies of these events; what is missing is sent again afterwards. One of several copies may remain,
 * because ClickHouse checks each part separately: the caller has to look again. The statement deletes only what is
 * still wrong when ClickHouse runs it. So a delayed call that runs after the event was sent again does nothing.
 */
export async function dropWrongCopies(clickhouse: ClickHouseClient, wanted: TimelineRow[]): Promise<void> {
  const wrong = (await findCopies(clickhouse, wanted)).filter((event) => presenceOf(event) === 'wrong')
  const several = wrong.filter(({ copies }) => copies.length > 1).map((event) => event.wanted)
  const altered = wrong.filter(({ copies }) => copies.length === 1)
  const seen = altered.flatMap(({ copies }) =>
    copies.map(({ row, fingerprint }) => `('${row.event_id}', ${fingerprint})`),
  )
  if (several.length > 0) {
    const where = whereEvents(several)
    const still = `select event_id from events where ${where} group by event_id having count() > 1`
    await deleteEvents(clickhouse, `${where} and event_id in (${still})`)
  }
  if (altered.length > 0) {
    const where = whereEvents(altered.map((event) => event.wanted))
    await deleteEvents(clickhouse, `${where} and (event_id, ${FINGERPRINT}) in (${seen.join(', ')})`)
  }
}

async function deleteEvents(clickhouse: ClickHouseClient, where: string): Promise<void> {
  await clickhouse.command({
    query: `alter table events delete where ${where} settings mutations_sync = 2`,
    clickhouse_settings: LONG_STATEMENT_SETTINGS,
  })
}

async function findCopies(clickhouse: ClickHouseClient, wanted: TimelineRow[]): Promise<Found[]> {
  const found = new Map(wanted.map((row): [string, Found] => [row.event_id, { wanted: row, copies: [] }]))
  if (found.size === 0) return []
  const result = await clickhouse.query({
    query: `select ${SELECT_EVENT}, fingerprint
      from (select *, toString(${FINGERPRINT}) as fingerprint from events where ${whereEvents(wanted)})
      settings output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 0`,
    format: 'JSONEachRow',
    clickhouse_settings: LONG_STATEMENT_SETTINGS,
  })
  for (const { fingerprint, ...row } of await result.json<TimelineRow & { fingerprint: string }>())
    found.get(row.event_id)?.copies.push({ row, fingerprint })
  return [...found.values()]
}

function presenceOf({ wanted, copies: [first, ...more] }: Found): Presence {
  if (!first) return 'absent'
  return more.length === 0 && isSame(first.row, wanted) ? 'right' : 'wrong'
}

function isSame(stored: TimelineRow, wanted: TimelineRow): boolean {
  const columns = Object.keys(stored) as (keyof TimelineRow)[]
  return columns.every((column) => comparable(stored, column) === comparable(wanted, column))
}

const comparable = (row: TimelineRow, column: keyof TimelineRow) =>
  column === 'counted' ? withoutZeros(row.counted) : (row[column] ?? null)

/** `1.50` and `1.5` are one amount. */
const withoutZeros = (amount: string): string => (amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount)

/**
 * Filters by the table's key, so that only these contacts are read. `readTimelineRow` has checked that the ids are ids.
 */
const whereEvents = (rows: TimelineRow[]): string =>
  [
    `business_id in (${quoted(rows.map((row) => row.business_id))})`,
    `contact_id in (${quoted(rows.map((row) => row.contact_id))})`,
    `event_id in (${quoted(rows.map((row) => row.event_id))})`,
  ].join(' and ')

export const quoted = (ids: string[]): string => [...new Set(ids)].map((id) => `'${id}'`).join(', ')
