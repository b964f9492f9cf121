/** Computes the members of new and edited rules that read the timeline. */
import { loadBusinesses } from '../../contacts/load/load-businesses.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import { enterBuilt } from '../../rules/segments/membership/enter-built.ts'
import { settleWindows } from '../../rules/segments/windows/settle-windows.ts'
import type { Window } from '../../rules/segments/windows/windows-of.ts'
import { isAlive } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import type { Build } from '../build.ts'
import { buildStep, findBuilds } from '../build-members.ts'
import type { ContactId, Settle } from '../save-settled.ts'
import type { WindowDeps } from '../segment-deps.ts'
import type { Postponed } from './postponed.ts'
import { type Readings, readWindows, uniteReadings } from './read-windows.ts'
import { hasSameIds } from './settle-windows.ts'

/** The last row of the outbox that each pass waits for, by pass. */
export type AwaitedRows = Map<string, number>

/**
 * Does the same as `buildMembers`, for businesses with a rule that reads the timeline: each contact gets its counts and
 * sums first. The pass begins when the timeline has everything that was recorded before. Later events are read once
 * they are shipped, as usual.
 * @returns true while there is more to do at once
 */
export async function buildWindowed(
  deps: WindowDeps,
  { awaited, postponed }: { awaited: AwaitedRows; postponed: Postponed },
  signal: AbortSignal,
): Promise<boolean> {
  let isBusy = false
  const put = new Set(postponed.keys())
  for (const { build, isWindowed } of await findBuilds(deps)) {
    if (!isWindowed || signal.aborted || put.has(build.business_id)) continue
    if (!(await isTimelineComplete(deps, awaited, build))) continue
    try {
      await buildStep(deps, build, (contacts) => readContacts(deps, contacts, signal))
      postponed.succeeded(build.business_id)
      isBusy = true
    } catch (error) {
      if (signal.aborted || !(await isAlive(deps.clickhouse))) throw error
      deps.log.warn(
        { businessId: build.business_id, reason: describeFault(error) },
        'segments were not built, trying again',
      )
      postponed.failed(build.business_id)
    }
  }
  return isBusy
}

async function isTimelineComplete({ sql }: WindowDeps, awaited: AwaitedRows, build: Build): Promise<boolean> {
  if (build.cursor !== null) return true
  const pass = `${build.business_id} ${build.epoch} ${build.requested_at}`
  // The edit waited for the saves that did not know the rule, so their rows exist.
  const last = awaited.get(pass) ?? (await findLastRow(sql))
  awaited.set(pass, last)
  const waiting = await sql`
    select from outbox where shipped_at is null and resend is null and id <= ${last} order by id limit 1`
  if (waiting.length > 0) return false
  awaited.delete(pass)
  return true
}

async function findLastRow(sql: Sql): Promise<number> {
  const [row] = await sql<{ id: number }[]>`select id from outbox order by id desc limit 1`
  return row?.id ?? 0
}

/** Reads the windows that no rule in force reads. Those of rules in force are kept up to date as usual. */
async function readContacts(deps: WindowDeps, contacts: ContactId[], signal: AbortSignal): Promise<Settle> {
  const businessId = contacts[0]!.business_id
  const [business] = await loadBusinesses(deps.sql, deps.configs, [businessId])
  const windows = [...(business?.segments?.windows.values() ?? [])].filter(({ isBuilding }) => isBuilding)
  const mergedIds = await readMergedIds(deps.sql, businessId, contacts)
  const contactIds = [...mergedIds].flatMap(([id, merged]) => [id, ...merged])
  const now = deps.now()
  const readings = await readWindows(
    deps.clickhouse,
    { businessId, windows, contactIds, from: now, until: now },
    signal,
  )
  return enterBy({ windows, mergedIds, readings, now })
}

interface Read {
  windows: Window[]
  mergedIds: Map<string, string[]>
  readings: Readings
  now: number
}

function enterBy({ windows, mergedIds, readings, now }: Read): Settle {
  return (context, contact, { segments }) => {
    if (!segments) return
    const merged = mergedIds.get(contact.id)
    const wanted = windows.filter(({ key }) => segments.windows.get(key)?.isBuilding)
    // A contact that was merged meanwhile has its own request.
    if (merged && hasSameIds(contact, merged)) {
      const united = uniteReadings(readings, [contact.id, ...merged])
      settleWindows(context, segments, contact, {
        windows: wanted,
        readings: united,
        from: now,
        until: now,
        cause: 'rule',
      })
    }
    enterBuilt(context, segments, contact, now)
  }
}

/** Only for contacts that are not merged themselves. */
async function readMergedIds(sql: Sql, businessId: string, contacts: ContactId[]): Promise<Map<string, string[]>> {
  const rows = await sql<{ id: string; merged_ids: string[] }[]>`
    select c.id, to_json(array(
      select l.id from contacts l where l.business_id = c.business_id and l.merged_into = c.id
    )) as merged_ids
    from contacts c
    where c.business_id = ${businessId} and c.id = any (${arrayLiteral(contacts.map(({ id }) => id))}::text::uuid[])
      and c.merged_into is null`
  return new Map(rows.map(({ id, merged_ids }) => [id, merged_ids]))
}
