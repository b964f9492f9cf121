import { loadBusinesses } from '../../contacts/load/load-businesses.ts'
import { hashWindowKey } from '../../contacts/save/window-hashes.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'
import { settleWindows as settleContact } from '../../rules/segments/windows/settle-windows.ts'
import type { ContactState } from '../../rules/state.ts'
import { isAlive } from '../../stores/clickhouse.ts'
import { describeFault } from '../../stores/insert-lines.ts'
import { type Settle, saveSettled } from '../save-settled.ts'
import type { WindowDeps } from '../segment-deps.ts'
import { type WindowContact, refreshesOf, chooseContacts, findNextDue, removeRefreshes } from './choose-contacts.ts'
import type { Postponed } from './postponed.ts'
import { type Readings, readWindows, uniteReadings } from './read-windows.ts'

/** Contacts read at once. */
const SET_SIZE = 1000
/** Milliseconds after which a contact that keeps changing is tried again. */
const CONFLICT_MS = 50

/**
 * Reads the counts and sums of one set of contacts from the timeline, and settles their segments (segments,
 * "Membership": windowed conditions). A business whose windows cannot be read does not delay the others. Rejects when
 * ClickHouse is away.
 * @returns `more` when other contacts may be waiting; else the next known instant (epoch milliseconds), or null
 */
export async function settleWindows(
  deps: WindowDeps,
  postponed: Postponed,
  signal: AbortSignal,
): Promise<'more' | number | null> {
  const now = deps.now()
  const contacts = await chooseContacts(deps.sql, { now, except: postponed.keys(), most: SET_SIZE })
  if (contacts.length === 0) return await findNextDue(deps.sql)
  let settled = 0
  for (const [businessId, those] of Map.groupBy(contacts, ({ business_id }) => business_id)) {
    if (signal.aborted) break
    try {
      settled += await settleBusiness(deps, { businessId, contacts: those, now }, signal)
      postponed.succeeded(businessId)
    } catch (error) {
      if (signal.aborted || !(await isAlive(deps.clickhouse))) throw error
      deps.log.warn({ businessId, reason: describeFault(error) }, 'windows of segments were not read, trying again')
      postponed.failed(businessId)
    }
  }
  return settled > 0 ? 'more' : now + CONFLICT_MS
}

/** Returns the number of contacts that were settled. */
async function settleBusiness(
  deps: WindowDeps,
  { businessId, contacts, now }: { businessId: string; contacts: WindowContact[]; now: number },
  signal: AbortSignal,
): Promise<number> {
  const [business] = await loadBusinesses(deps.sql, deps.configs, [businessId])
  const windows = [...(business?.segments?.windows.values() ?? [])]
  const readings = await readWindows(
    deps.clickhouse,
    {
      businessId,
      windows,
      contactIds: contacts.flatMap(({ id, merged_ids }) => [id, ...merged_ids]),
      from: Math.min(...contacts.map(({ from }) => from)),
      until: now,
    },
    signal,
  )
  const skipped = new Set<string>()
  const found = new Set<string>()
  const byId = new Map(contacts.map((contact) => [contact.id, contact]))
  const settle: Settle = (context, contact, { segments }) => {
    const asked = byId.get(contact.id)
    if (!asked) return
    found.add(contact.id)
    if (!hasSameIds(contact, asked.merged_ids)) return void skipped.add(contact.id)
    context.changes.doneRefreshes.push(...refreshesOf(asked))
    if (segments) settleContact(context, segments, contact, { windows, ...newsOf(asked, readings, now) })
  }
  const settled = await saveSettled(deps, contacts, settle)
  const answered = settled.filter(({ id }) => !skipped.has(id))
  // These contacts no longer exist, so no save has removed their requests.
  await removeRefreshes(
    deps.sql,
    contacts.filter(({ id }) => !found.has(id)),
  )
  await removeUnread(
    deps,
    { businessId, contacts, now },
    windows.map(({ key }) => key),
  )
  return answered.length
}

function newsOf({ id, merged_ids, from, pending_at, cause, is_new }: WindowContact, readings: Readings, now: number) {
  return {
    readings: uniteReadings(readings, [id, ...merged_ids]),
    from,
    // Events that were received before an instant are settled before it.
    until: pending_at === null ? now : Math.min(now, pending_at - 1),
    cause: cause ?? ('bulk' as const),
    isNew: is_new,
  }
}

/** False when contacts were merged after the timeline was read. */
export function hasSameIds({ mergedIds }: ContactState, ids: readonly string[]): boolean {
  return mergedIds.length === ids.length && mergedIds.every((id) => ids.includes(id))
}

/** Removes windows that no rule reads any more, so that they are not due again. */
async function removeUnread(
  { sql }: WindowDeps,
  { businessId, contacts, now }: { businessId: string; contacts: WindowContact[]; now: number },
  keys: string[],
): Promise<void> {
  await sql`
    delete from segment_windows
    where business_id = ${businessId} and contact_id = any (${arrayLiteral(contacts.map(({ id }) => id))}::text::uuid[])
      and next_at <= ${now} and key_hash <> all (${arrayLiteral(keys.map(hashWindowKey))}::text::uuid[])`
}
