/** Removes data from ClickHouse that Postgres does not know. Each step can be repeated. */
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import { LONG_STATEMENT_SETTINGS, quoted } from '../../outbox/look-up-events.ts'
import { textLiteral } from '../../stores/clickhouse-literal.ts'

export interface LostData {
  businessId: string
  events: { contact_id: string; event_id: string }[]
  /** Contacts that Postgres does not know. */
  unknown: string[]
  /** Contacts that are separate in Postgres, but merged in ClickHouse. */
  merged: string[]
}

/** Ids per statement. */
const IDS = 20_000

/** Removes events first, because until then only the snapshots show to whom they belong. Keeps erasure marks. */
export async function removeLost(
  clickhouse: ClickHouseClient,
  { businessId, events, unknown, merged }: LostData,
): Promise<void> {
  const remove = async (table: string, condition: string) => {
    const query = `alter table ${table} delete where business_id = '${businessId}' and ${condition} settings mutations_sync = 2`
    await clickhouse.command({ query, clickhouse_settings: LONG_STATEMENT_SETTINGS })
  }
  for (const some of inParts(events)) {
    const [contacts, ids] = [some.map(({ contact_id }) => contact_id), some.map(({ event_id }) => event_id)]
    await remove('events', `contact_id in (${quoted(contacts)}) and event_id in (${quoted(ids)})`)
  }
  for (const some of inParts(unknown)) await remove('event_statistics', `contact_id in (${quoted(some)})`)
  for (const some of inParts([...unknown, ...merged]))
    await remove('contact_redirects', `contact_id in (${quoted(some)}) and erased = 0`)
  for (const some of inParts(unknown))
    await remove('contact_snapshots', `contact_id in (${quoted(some)}) and erased = 0`)
}

/**
 * Removes visitors of whom ClickHouse has more than Postgres. A repair sends those that Postgres knows again. Keeps
 * captures.
 */
export async function removeVisitors(clickhouse: ClickHouseClient, businessId: string, ids: string[]): Promise<void> {
  for (const some of inParts(ids)) {
    const theirs = `business_id = '${businessId}' and visitor_id in (${some.map(textLiteral).join(', ')})`
    for (const change of [
      `visitor_links delete where ${theirs}`,
      `visitor_touches delete where ${theirs} and erased = 0`,
      `visitors delete where ${theirs} and erased = 0`,
    ])
      await clickhouse.command({
        query: `alter table ${change} settings mutations_sync = 2`,
        clickhouse_settings: LONG_STATEMENT_SETTINGS,
      })
  }
}

function inParts<Item>(items: Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / IDS) }, (_, part) => items.slice(part * IDS, (part + 1) * IDS))
}
