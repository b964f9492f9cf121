/** Finds the contacts that something triggered in the period of a backtest. */
import { TRIGGER_SOURCES } from '../../rules/campaigns/event-trigger.ts'
import { showCount } from '../../rules/limits.ts'
import { type HistoryDeps, queryChanges } from '../../segments/read-change-rows.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { CampaignTrigger } from '../campaign.ts'
import { type AskDeps, askClickHouse } from './ask-clickhouse.ts'
import { BacktestError } from './backtest-error.ts'
import { findWebEntries } from './find-web-entries.ts'
import type { FoundEntry } from './found-entry.ts'
import type { Plan } from './plan-backtest.ts'

/**
 * Maximum number of contacts with an event of the trigger's name, a change of the segment, a membership, or a
 * triggering page view.
 */
export const MAX_ENTRANTS = 100_000
/** Ids in one statement. */
const CHUNK = 5000

export interface Entrants {
  /** The survivors, in the order of their ids, without erased ones. */
  contactIds: string[]
  /** By survivor, in the order of receipt. Null: events of the timeline trigger. */
  entries: ReadonlyMap<string, readonly FoundEntry[]> | null
}

export interface EntrantDeps extends AskDeps, HistoryDeps {
  maxEntrants?: number
}

/** Throws BacktestError when there are too many. */
export async function findEntrants(deps: EntrantDeps, plan: Plan): Promise<Entrants> {
  const { maxEntrants = MAX_ENTRANTS } = deps
  const { trigger } = plan.campaign
  if ('event' in trigger) {
    const ids = await findTriggered(deps, plan, trigger, maxEntrants + 1)
    refuseMany(ids.length, maxEntrants)
    return { contactIds: [...new Set((await findSurvivors(deps.sql, plan, ids)).values())].toSorted(), entries: null }
  }
  const found = 'web' in trigger ? await findWebEntries(deps, plan, trigger) : await findChanges(deps, plan, trigger)
  refuseMany(found.length, maxEntrants)
  const survivors = await findSurvivors(deps.sql, plan, [...new Set(found.map(({ contactId }) => contactId))])
  const entries = new Map<string, FoundEntry[]>()
  for (const entry of found.toSorted((one, other) => one.receivedAt - other.receivedAt)) {
    const survivor = survivors.get(entry.contactId)
    if (survivor === undefined) continue
    const known = entries.get(survivor)
    if (known) known.push(entry)
    else entries.set(survivor, [entry])
  }
  return { contactIds: [...entries.keys()].toSorted(), entries }
}

function refuseMany(many: number, most: number): void {
  if (many <= most) return
  throw new BacktestError(`More than ${showCount(most)} contacts are to be looked at. Choose a shorter time.`)
}

async function findTriggered(
  deps: EntrantDeps,
  { business, from, to }: Plan,
  { event, sources }: Extract<CampaignTrigger, { event: string }>,
  limit: number,
): Promise<string[]> {
  const rows = await askClickHouse<{ id: string }>(
    deps,
    `
      select distinct toString(contact_id) as id from events
      where business_id = {business: UUID} and event = {event: String}
        and ${sources === undefined ? `source != 'batch'` : `source = '${TRIGGER_SOURCES[0]}'`}
        and received_ms >= {from: Int64} and received_ms < {to: Int64}
      limit {limit: UInt32}`,
    { business: business.id, event, from, to, limit },
  )
  return rows.map(({ id }) => id)
}

/** The entries, exits or members of the segment. Merges, bulk changes and new rules trigger nothing. */
async function findChanges(
  deps: EntrantDeps,
  { business, from, to }: Plan,
  { segment, on }: Extract<CampaignTrigger, { segment: string }>,
): Promise<FoundEntry[]> {
  const { maxEntrants = MAX_ENTRANTS, patience = PATIENCE } = deps
  const chosen = `where at_ms >= {from: Int64} and at_ms < {to: Int64} and entered = ${on === 'leave' ? 0 : 1}
    and cause in ('live', 'time')`
  const query =
    on === 'members'
      ? `
        select contact_id as contactId, {from: Int64} as at
        from (
          select contact_id, max(tuple(at_ms, change_id, entered)) as last
          from (select * from shipped union all select * from unshipped)
          where at_ms <= {from: Int64} group by contact_id
        )
        where tupleElement(last, 3) = 1 limit {limit: UInt32}`
      : `
        select contact_id as contactId, at_ms as at
        from (select * from shipped ${chosen} union all select * from unshipped ${chosen})
        order by at_ms, change_id limit 1 by change_id limit {limit: UInt32}`
  const rows = await queryChanges<{ contactId: string; at: number }>(
    { ...deps, patience },
    { businessId: business.id, segmentId: segment },
    { query, params: { from, to, limit: maxEntrants + 1 } },
  )
  deps.signal.throwIfAborted()
  if (rows === undefined)
    throw new BacktestError('The history of the segment cannot be read now. Start the backtest again later.')
  return rows.map(({ contactId, at }) => ({ contactId, enrolledAt: at, receivedAt: at }))
}

const PATIENCE = { ms: 10_000, whileAliveMs: 60_000 }

/** By id. Erased persons have no entry. */
async function findSurvivors(
  sql: Sql,
  { business }: Plan,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const survivors = new Map<string, string>()
  for (let at = 0; at < ids.length; at += CHUNK) {
    const rows = await sql<{ id: string; survivor: string }[]>`
      select id, coalesce(merged_into, id) as survivor from contacts
      where business_id = ${business.id} and id = any (${`{${ids.slice(at, at + CHUNK).join(',')}}`}::text::uuid[])`
    for (const { id, survivor } of rows) survivors.set(id, survivor)
  }
  return survivors
}
