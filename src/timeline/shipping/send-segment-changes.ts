import type { SegmentChangeRow } from '../../outbox/segment-change-row.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { INSERT_SETTINGS, insertLines } from '../../stores/insert-lines.ts'
import type { Group } from './groups.ts'
import { LONG_STATEMENT_SETTINGS, quoted } from '../../outbox/look-up-events.ts'

/**
 * Sends the segment changes of a group with the group's id as token: all of them or none, and only once.
 *
 * Rows that are sent again were in other groups before, so their new token does not show which changes ClickHouse has.
 * So ClickHouse is queried for the changes. The result is complete: no other group is in progress, and a repeat of this
 * group has the same token.
 */
export async function sendSegmentChanges(
  clickhouse: ClickHouseClient,
  { id, segmentChanges, isResent }: Pick<Group, 'id' | 'segmentChanges' | 'isResent'>,
  signal?: AbortSignal,
): Promise<void> {
  const lines = isResent ? await listMissing(clickhouse, segmentChanges) : segmentChanges
  if (lines.length === 0) return
  const settings = `${INSERT_SETTINGS}, insert_deduplication_token = '${id}'`
  await insertLines(clickhouse, `insert into segment_changes settings ${settings}`, lines, signal)
}

/** Number of changes that one query looks up. */
const BATCH = 5000

async function listMissing(clickhouse: ClickHouseClient, lines: string[]): Promise<string[]> {
  const there = new Set<string>()
  for (let at = 0; at < lines.length; at += BATCH)
    for (const id of await findThere(clickhouse, lines.slice(at, at + BATCH).map(decode))) there.add(id)
  return lines.filter((line) => !there.has(decode(line).change_id))
}

const decode = (line: string): SegmentChangeRow => JSON.parse(line) as SegmentChangeRow

/** Filters by the table's key, so that only the time span of these changes is read. */
async function findThere(clickhouse: ClickHouseClient, rows: SegmentChangeRow[]): Promise<string[]> {
  const times = rows.map((row) => row.at_ms)
  const result = await clickhouse.query({
    query: `select distinct toString(change_id) as id from segment_changes
      where business_id in (${quoted(rows.map((row) => row.business_id))})
        and segment_id in (${quoted(rows.map((row) => row.segment_id))})
        and at_ms between ${Math.min(...times)} and ${Math.max(...times)}
        and change_id in (${quoted(rows.map((row) => row.change_id))})`,
    format: 'JSONEachRow',
    clickhouse_settings: LONG_STATEMENT_SETTINGS,
  })
  return (await result.json<{ id: string }>()).map(({ id }) => id)
}
