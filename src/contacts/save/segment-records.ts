/** The rows of a micro-batch for segments, by parameter of `save_changes`: memberships, clocks of contacts, windows. */
import type { Changes } from '../../rules/changes.ts'
import type { WindowChange } from '../../rules/segments/membership/segment-changes.ts'
import { type WindowRefresh, uniteRefreshes } from '../../rules/segments/windows/window-refresh.ts'
import { type ContactState, type State, survivorOf } from '../../rules/state.ts'
import type { ContactPositions } from './merge-records.ts'
import { COLUMNS } from './save-parameters.ts'
import { hashWindowKey } from './window-hashes.ts'
import { arrayLiteral, snakeRecords, writeColumns, writeRecords } from '../../stores/write-columns.ts'

export function segmentRecords(state: State, changes: Changes, places: ContactPositions) {
  return {
    ...membershipRecords(changes, places),
    clocks: writeColumns(COLUMNS.clocks, [...changes.clocks.values()].flatMap(clockRecord(places))),
    windows: writeRecords([...changes.windows.values()].flat().map(windowRecord)),
    window_refreshes: snakeRecords(windowRefreshes(state, changes)),
    done_refreshes: snakeRecords(changes.doneRefreshes),
  }
}

function membershipRecords({ memberships }: Changes, places: ContactPositions) {
  const rules = new Map<number, { business_id: string; no: number; place: number }>()
  const rows = [...memberships.values()].flat().map(({ businessId, contactId, no, entered, at, cause }) => {
    let rule = rules.get(no)
    if (!rule) rules.set(no, (rule = { business_id: businessId, no, place: rules.size + 1 }))
    return { place: places.get(contactId), rule: rule.place, entered, at, cause }
  })
  return {
    membership_rules: writeColumns(COLUMNS.membership_rules, [...rules.values()]),
    memberships: writeColumns(COLUMNS.memberships, rows),
  }
}

const clockRecord =
  (places: ContactPositions) =>
  ({ id, facts }: ContactState) => {
    if (!facts) return []
    const { dueAt, settledAt, bulkFacts, changedAt } = facts.clock
    const bulk = bulkFacts.size === 0 ? null : arrayLiteral([...bulkFacts])
    const changed = changedAt.size === 0 ? null : JSON.stringify([...changedAt])
    return [{ place: places.get(id), due_at: dueAt, settled_at: settledAt, bulk_facts: bulk, changed_at: changed }]
  }

const windowRecord = ({ businessId, contactId, key, value, nextAt }: WindowChange) => ({
  business_id: businessId,
  contact_id: contactId,
  key_hash: hashWindowKey(key),
  value,
  next_at: nextAt,
})

/** Window refreshes of contacts that were merged away are assigned to their survivors. */
function windowRefreshes(state: State, { windowRefreshes: made }: Changes): WindowRefresh[] {
  const refreshes = new Map<string, WindowRefresh>()
  for (const refresh of made.values()) {
    const contactId = survivorOf(state, refresh.contactId)
    const moved = contactId === refresh.contactId ? refresh : { ...refresh, contactId, isNew: false }
    const known = refreshes.get(contactId)
    refreshes.set(contactId, known ? uniteRefreshes(known, moved) : moved)
  }
  return [...refreshes.values()]
}
