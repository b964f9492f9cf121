/**
 * What `save_changes` reads, from the changes of one micro-batch. What can be folded to one row per key is folded, and rows
 * are sorted: two saves that touch the same ones queue up behind each other instead of deadlocking.
 */
import { type Changes, type ContactDelta, emptyDelta, isVersionRaised } from '../rules/changes.ts'
import type { WindowChange } from '../rules/segments/segment-changes.ts'
import { CHANNELS } from '../rules/events/facts.ts'
import { type WindowRefresh, uniteRefreshes } from '../rules/segments/window-refresh.ts'
import { readableProperties } from '../rules/campaigns/trigger-event.ts'
import { type ContactState, type EnrolmentState, type State, survivorOf } from '../rules/state.ts'
import { writeLines } from '../outbox/pack-events.ts'
import { hashKey } from './collect-lookups.ts'
import { inSnakeCase } from './in-snake-case.ts'
import { type ContactPositions, mergeRecords } from './merge-records.ts'
import { encodeEvent } from '../outbox/timeline-row.ts'
import { visitorRecords } from './visitor-records.ts'
import { hashWindowKey } from './window-hashes.ts'
import { columnOf, profileRecord } from './profile-columns.ts'
import { COLUMNS, type ColumnList, type RowsOf } from './save-parameters.ts'
import { arrayLiteral, writeColumns, writeRecords } from './write-columns.ts'

export function recordsOf(state: State, changes: Changes) {
  /** Rows of contacts that were merged away in this batch belong to the survivor. */
  const moved = <Row extends { contactId: string }>(row: Row): Row => {
    const contactId = survivorOf(state, row.contactId)
    return contactId === row.contactId ? row : { ...row, contactId }
  }
  const touched = touchedContacts(state, changes)
  const people = [...new Set([...touched.map(({ id }) => id), ...state.contacts.keys()])]
  const places: ContactPositions = new Map(people.map((id, at) => [id, at + 1]))
  const identities = identityRecords(state, changes, places)
  const keys = keyRecords(state, changes)
  const columns = <List extends ColumnList>(list: List, rows: RowsOf<List>) => writeColumns(COLUMNS[list], rows)
  return {
    /** All contacts that the decision was about, those that got anything first. */
    people: people.map((id) => ({ id, businessId: state.contacts.get(id)?.businessId ?? '' })),
    /** Of each contact that got anything: whether its snapshot changes. */
    changed: touched.map(({ changed }) => changed),
    keyCount: keys.length,
    /** The timeline's rows. */
    events: writeLines(changes.events.map((event) => encodeEvent(moved(event)))),
    /** By parameter of `save_changes`. */
    lists: {
      businesses: columns('businesses', businessRecords(state, changes)),
      assumed: columns('assumed', assumedContacts(state, places)),
      raised: raisedPlaces(state, changes, places),
      contacts: columns('contacts', touched.filter(({ changed }) => changed).map(contactRecord(state, places))),
      merges: columns('merges', mergeRecords(state, changes, places)),
      new_identities: columns('new_identities', identities.inserted),
      statistics: columns('statistics', touched.flatMap(statisticRecords(places))),
      revenue: columns('revenue', touched.flatMap(revenueRecords(places))),
      keys: columns('keys', keys),
      new_fields: snakeRecords(changes.newFields),
      released: snakeRecords(identities.released),
      kept_identities: snakeRecords(identities.kept),
      ended_enrolments: writeRecords(
        [...changes.endedEnrolments.values()].map(({ enrolment, businessId }) =>
          inSnakeCase(enrolment, { businessId }),
        ),
      ),
      new_enrolments: writeRecords(
        [...changes.newEnrolments.values()].map(({ enrolment, businessId }) =>
          inSnakeCase(moved(enrolment), { businessId }),
        ),
      ),
      first_steps: writeRecords(firstStepRecords(changes, moved)),
      applied_steps: snakeRecords(changes.appliedSteps),
      heard: snakeRecords([...changes.heard.values()].map(moved)),
      message_events: snakeRecords(changes.messageEvents),
      ...visitorRecords(state, changes),
      identifications: snakeRecords(changes.identifications.map(moved)),
      subscriptions: snakeRecords([...changes.subscriptions.values()].map(({ was: _was, ...choice }) => choice)),
      past_choices: snakeRecords(changes.pastChoices.map(moved)),
      merge_log: snakeRecords(changes.mergeLog),
      erasures: snakeRecords(changes.erasures),
      edits: snakeRecords(changes.edits.map((edit) => ({ ...edit, cleared: edit.cleared.map(columnOf) }))),
      deliveries: snakeRecords(changes.deliveries.map(moved)),
      ...membershipRecords(changes, places),
      clocks: columns('clocks', [...changes.clocks.values()].flatMap(clockRecord(places))),
      windows: writeRecords([...changes.windows.values()].flat().map(windowRecord)),
      window_refreshes: snakeRecords(windowRefreshes(state, changes)),
      done_refreshes: snakeRecords(changes.doneRefreshes),
    },
  }
}

function firstStepRecords(
  { firstSteps, newEnrolments }: Changes,
  moved: (enrolment: EnrolmentState) => EnrolmentState,
) {
  return [...firstSteps].flatMap(([id, { step, beganAt, event }]) => {
    const made = newEnrolments.get(id)
    if (made === undefined) return []
    const { contactId, campaignId, version } = moved(made.enrolment)
    return [
      {
        business_id: made.businessId,
        enrolment_id: id,
        contact_id: contactId,
        campaign_id: campaignId,
        version,
        step: step.id,
        listens_for: step.listensFor,
        began_at: beganAt,
        event_name: event?.name ?? null,
        event_properties: event && readableProperties(event),
      },
    ]
  })
}

const snakeRecords = (rows: readonly object[]) => writeRecords(rows.map((row) => inSnakeCase(row)))
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const byFirst = ([a]: [string, unknown], [b]: [string, unknown]) => byText(a, b)
const byId = (a: { id: string }, b: { id: string }) => byText(a.id, b.id)

function businessRecords(state: State, changes: Changes) {
  const newFields = (id: string) => changes.newFields.filter((field) => field.businessId === id).length
  return [...state.businesses.values()]
    .map(({ id, configVersion }) => ({ id, version: configVersion, new_fields: newFields(id) }))
    .sort(byId)
}

function keyRecords(state: State, changes: Changes) {
  const records = changes.newKeys.map((key) => ({
    business_id: key.businessId,
    key_hash: hashKey(key.key),
    contact_id: key.contactId && survivorOf(state, key.contactId),
    occurred_at: key.occurredAt,
  }))
  return records.sort((a, b) => byText(a.key_hash, b.key_hash))
}

/** All contacts that the decision read, changed or not: with other versions it would have been another decision. */
function assumedContacts(state: State, places: ContactPositions) {
  return [...state.contacts.values()]
    .filter((contact) => contact.version !== null)
    .sort(byId)
    .map(({ id, version }) => ({ place: places.get(id), version }))
}

/** The contacts whose version goes up for their segments alone. The record of a changed contact raises it with everything else. */
function raisedPlaces(state: State, changes: Changes, places: ContactPositions): string | null {
  const raised = [...state.contacts.values()].filter(({ id, version }) => {
    const isStored = version !== null && !state.mergedInto.has(id)
    return isStored && isVersionRaised(changes, id) && !changes.deltas.get(id)?.raisesVersion
  })
  return raised.length === 0 ? null : arrayLiteral(raised.map(({ id }) => places.get(id)))
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
    const { dueAt, settledAt, bulkFacts } = facts.clock
    const bulk = bulkFacts.size === 0 ? null : arrayLiteral([...bulkFacts])
    return [{ place: places.get(id), due_at: dueAt, settled_at: settledAt, bulk_facts: bulk }]
  }

const windowRecord = ({ businessId, contactId, key, value, nextAt }: WindowChange) => ({
  business_id: businessId,
  contact_id: contactId,
  key_hash: hashWindowKey(key),
  value,
  next_at: nextAt,
})

/** Those of contacts that were merged away are their survivors'. */
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

interface Touched {
  id: string
  delta: ContactDelta
  /** Its snapshot for the timeline changes. */
  changed: boolean
}

/** All contacts that got anything: for the timeline and its erasure. */
function touchedContacts(state: State, changes: Changes): Touched[] {
  const touched = [...changes.deltas].map(([id, delta]) => touchedContact(state, changes, id, delta))
  // Created and merged within this batch: they need a row, too, because responses have named their ids.
  for (const id of state.mergedInto.keys()) {
    if (changes.newContacts.has(id) && !changes.deltas.has(id))
      touched.push(touchedContact(state, changes, id, emptyDelta()))
  }
  return touched.sort(byId)
}

function touchedContact(state: State, changes: Changes, id: string, delta: ContactDelta): Touched {
  const contact = state.contacts.get(id)
  return { id, delta, changed: hasChanged(contact, delta) || hasChangedConsent(changes, id) }
}

const contactRecord =
  (state: State, places: ContactPositions) =>
  ({ id, delta }: Touched) => {
    const contact = state.contacts.get(id)
    const { profile } = delta
    return {
      place: places.get(id),
      created_at: contact?.createdAt,
      raised: contact?.version === null || delta.raisesVersion ? 1 : 0,
      keyed: delta.keyed,
      merged_into: state.mergedInto.has(id) ? survivorOf(state, id) : null,
      stage: delta.stage,
      orders: delta.orders,
      tags: arrayLiteral([...delta.tags]),
      traits: JSON.stringify(Object.fromEntries(delta.traits)),
      ...profileRecord(profile),
      page_filled: contact?.pageFilled || null,
    }
  }

/** Whether the contact's snapshot changes. False when only statistics do. */
function hasChanged(contact: ContactState | undefined, delta: ContactDelta): boolean {
  if (!contact || contact.version === null) return true
  return (
    delta.raisesVersion ||
    delta.stage > contact.stage ||
    delta.orders > 0 ||
    delta.revenue.size > 0 ||
    delta.tags.size > 0 ||
    delta.traits.size > 0 ||
    Object.keys(delta.profile).length > 0
  )
}

/** Without a record, a contact is not subscribed. */
const hasChangedConsent = ({ subscriptions }: Changes, contactId: string): boolean =>
  CHANNELS.some((channel) => {
    const change = subscriptions.get(`${contactId} ${channel}`)
    return change !== undefined && change.subscribed !== (change.was?.subscribed ?? false)
  })

/**
 * Those that Postgres does not know are inserted, never updated: if another worker has inserted one, that is a
 * conflict. They come in the order in which they were first sent, and are numbered in that order, even when their contacts are
 * merged.
 */
function identityRecords(state: State, { identities }: Changes, places: ContactPositions) {
  const leaving = [...identities].sort(byFirst).flatMap(([, change]) => (change.row === 'leaves' ? [change] : []))
  const held = [...identities].flatMap(([key, change]) => {
    const contact = holderOf(state, key)
    const own = contact?.identities.find(({ kind, value }) => kind === change.kind && value === change.value)
    return contact && own ? [{ ...change, contactId: contact.id, proven: own.proven }] : []
  })
  return {
    released: leaving,
    kept: held.filter(({ row }) => row === 'stays'),
    inserted: held
      .filter(({ row }) => row !== 'stays')
      .map(({ kind, value, contactId, proven, phoneRead }) => ({
        place: places.get(contactId),
        kind,
        value,
        proven,
        phone_read: phoneRead,
      })),
  }
}

function holderOf(state: State, key: string): ContactState | undefined {
  const ownerId = state.owners.get(key)
  return ownerId === undefined ? undefined : state.contacts.get(survivorOf(state, ownerId))
}

const statisticRecords =
  (places: ContactPositions) =>
  ({ id, delta }: Touched) =>
    [...delta.statistics].sort(byFirst).map(([event, { firstAt, lastAt, count }]) => ({
      place: places.get(id),
      event,
      first_at: firstAt,
      last_at: lastAt,
      count,
    }))

const revenueRecords =
  (places: ContactPositions) =>
  ({ id, delta }: Touched) =>
    [...delta.revenue].sort(byFirst).map(([currency, amount]) => ({ place: places.get(id), currency, amount }))
