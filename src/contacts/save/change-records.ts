/**
 * Composes the parameters of `save_changes` from the changes of one micro-batch. Changes of one key are combined into
 * one row where possible, and rows are sorted: two saves that touch the same rows wait for each other instead of
 * deadlocking.
 */
import { type Changes, isVersionRaised } from '../../rules/changes.ts'
import type { FollowedTrigger } from '../../rules/campaigns/campaign-changes.ts'
import { readableProperties } from '../../rules/campaigns/trigger-event.ts'
import { type ContactState, type EnrolmentState, type State, survivorOf } from '../../rules/state.ts'
import { writeLines } from '../../outbox/pack-events.ts'
import { hashKey } from '../load/collect-lookups.ts'
import {
  type Touched,
  knownContactColumns,
  newContactColumns,
  revenueColumns,
  statisticColumns,
  touchedContacts,
} from './contact-records.ts'
import { identityRecords } from './identity-records.ts'
import { inSnakeCase } from '../../stores/in-snake-case.ts'
import { type ContactPositions, mergeRecords } from './merge-records.ts'
import { encodeEvent } from '../../outbox/timeline-row.ts'
import { visitorRecords } from './visitor-records.ts'
import { columnOf } from '../profile-columns.ts'
import { segmentRecords } from './segment-records.ts'
import { topicRecords } from './topic-records.ts'
import { byId, inOrderOfKeys } from './sort-records.ts'
import { COLUMNS, type ColumnList, type RowsOf, type TableOf } from './save-parameters.ts'
import { arrayLiteral, snakeRecords, writeColumns, writeRecords, writeTable } from '../../stores/write-columns.ts'

export function recordsOf(state: State, changes: Changes) {
  /** Assigns rows of contacts that were merged away in this batch to the survivor. */
  const moved = <Row extends { contactId: string }>(row: Row): Row => {
    const contactId = survivorOf(state, row.contactId)
    return contactId === row.contactId ? row : { ...row, contactId }
  }
  const contacts = inOrderOfKeys(state.contacts)
  const touched = touchedContacts(state, changes, contacts)
  const recorded = touched.filter(({ changed }) => changed)
  const created = recorded.filter(({ assumed }) => assumed === null)
  const known = recorded.filter(({ assumed }) => assumed !== null)
  const people = peopleOf(contacts, touched)
  const places: ContactPositions = new Map(people.map(({ id }, at) => [id, at + 1]))
  const identities = identityRecords(state, changes, places)
  const columns = <List extends ColumnList>(list: List, rows: RowsOf<List>) => writeColumns(COLUMNS[list], rows)
  const table = <List extends ColumnList>(list: List, cells: TableOf<List>) =>
    writeTable<keyof TableOf<List>>(COLUMNS[list], cells)
  return {
    /** All contacts that the decision was about, the changed ones first. */
    people,
    /** For each changed contact: whether its snapshot changes. */
    changed: touched.map(({ changed }) => changed),
    keyCount: changes.newKeys.length,
    /** The rows of the timeline. */
    events: writeLines(changes.events.map((event) => encodeEvent(moved(event)))),
    /** Lists, by parameter of `save_changes`. */
    lists: {
      businesses: columns('businesses', businessRecords(state, changes)),
      assumed: table('assumed', assumedColumns(contacts, places)),
      raised: raisedPlaces(state, changes, recorded, places),
      new_contacts: table('new_contacts', newContactColumns(state, created)),
      known_contacts: table('known_contacts', knownContactColumns(changes, known)),
      merges: columns('merges', mergeRecords(state, changes, places)),
      new_identities: columns('new_identities', identities.inserted),
      statistics: table('statistics', statisticColumns(touched)),
      revenue: table('revenue', revenueColumns(touched)),
      keys: table('keys', keyColumns(state, changes)),
      new_fields: snakeRecords(changes.newFields),
      released: snakeRecords(identities.released),
      kept_identities: snakeRecords(identities.kept),
      primaries: snakeRecords(identities.primaries),
      ended_enrolments: writeRecords(
        [...changes.endedEnrolments.values()].map(({ enrolment, businessId }) =>
          inSnakeCase(enrolment, { businessId }),
        ),
      ),
      new_enrolments: writeRecords(enrolmentRecords(changes, moved, false)),
      keyed_enrolments: writeRecords(enrolmentRecords(changes, moved, true)),
      followed_triggers: writeRecords(changes.followedTriggers.map((one) => followedRecord(moved(one)))),
      goal_times: snakeRecords([...changes.goalTimes.values()]),
      first_steps: writeRecords(firstStepRecords(changes, moved)),
      applied_steps: snakeRecords(changes.appliedSteps),
      awaited_events: snakeRecords([...changes.awaitedEvents.values()].map(moved)),
      message_events: snakeRecords(changes.messageEvents),
      ...visitorRecords(state, changes),
      identifications: snakeRecords(changes.identifications.map(moved)),
      subscriptions: snakeRecords([...changes.subscriptions.values()].map(({ was: _was, ...choice }) => choice)),
      past_choices: snakeRecords(changes.pastChoices.map(moved)),
      topics: topicRecords(state, changes),
      merge_log: snakeRecords(changes.mergeLog),
      erasures: snakeRecords(changes.erasures),
      edits: snakeRecords(changes.edits.map((edit) => ({ ...edit, cleared: edit.cleared.map(columnOf) }))),
      deliveries: snakeRecords(changes.deliveries.map(moved)),
      ...segmentRecords(state, changes, places),
    },
  }
}

const enrolmentRecords = (
  { newEnrolments }: Changes,
  moved: (enrolment: EnrolmentState) => EnrolmentState,
  hasKey: boolean,
) =>
  [...newEnrolments.values()].flatMap(({ enrolment, businessId }) => {
    if ((enrolment.key !== null) !== hasKey) return []
    const { key, isKeyHidden = null, ...columns } = moved(enrolment)
    return [inSnakeCase(columns, { businessId, ...(hasKey && { key, keyHidden: isKeyHidden }) })]
  })

const followedRecord = ({ event, occurredAt, receivedAt, restart, ...ids }: FollowedTrigger) =>
  inSnakeCase(ids, {
    eventName: event.name,
    eventProperties: readableProperties(event),
    eventAt: occurredAt,
    step: restart?.id ?? null,
    listensFor: restart?.listensFor ?? null,
    beganAt: receivedAt,
  })

function firstStepRecords(
  { firstSteps, newEnrolments }: Changes,
  moved: (enrolment: EnrolmentState) => EnrolmentState,
) {
  return [...firstSteps].flatMap(([id, { step, beganAt, event, eventAt }]) => {
    const made = newEnrolments.get(id)
    if (made === undefined) return []
    const { contactId, campaignId, version, enrolledAt } = moved(made.enrolment)
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
        event_at: eventAt === enrolledAt ? null : eventAt,
      },
    ]
  })
}

function businessRecords(state: State, changes: Changes) {
  const newFields = (id: string) => changes.newFields.filter((field) => field.businessId === id).length
  return [...state.businesses.values()]
    .map(({ id, configVersion }) => ({ id, version: configVersion, new_fields: newFields(id) }))
    .sort(byId)
}

/** All contacts of the state, those with changes first. */
function peopleOf(contacts: readonly ContactState[], touched: readonly Touched[]): ContactState[] {
  if (touched.length === contacts.length) return touched.map(({ contact }) => contact)
  return [...new Set([...touched.map(({ contact }) => contact), ...contacts])]
}

function keyColumns(state: State, changes: Changes): TableOf<'keys'> {
  const byHash = Map.groupBy(changes.newKeys, ({ key }) => hashKey(key))
  const hashes = [...byHash.keys()].sort()
  const keys = hashes.flatMap((hash) => byHash.get(hash)!)
  return {
    business_id: keys.map(({ businessId }) => businessId),
    key_hash: hashes.flatMap((hash) => byHash.get(hash)!.map(() => hash)),
    contact_id: keys.map(({ contactId }) => contactId && survivorOf(state, contactId)),
    occurred_at: keys.map(({ occurredAt }) => occurredAt),
    event: keys.map(({ event }) => event),
  }
}

/**
 * Lists all contacts that the decision read, changed or not: with other versions, the decision would have been
 * different.
 */
function assumedColumns(contacts: readonly ContactState[], places: ContactPositions): TableOf<'assumed'> {
  const stored = contacts.filter(({ version }) => version !== null)
  return { place: stored.map(({ id }) => places.get(id)), version: stored.map(({ version }) => version) }
}

/**
 * Lists the contacts whose version is raised only because of their segments. The record of a changed contact raises its
 * version together with everything else.
 */
function raisedPlaces(
  state: State,
  changes: Changes,
  recorded: readonly Touched[],
  places: ContactPositions,
): string | null {
  const written = new Set(recorded.map(({ contact }) => contact.id))
  const raised = [...state.contacts.values()].filter(
    ({ id, version }) =>
      version !== null && !state.mergedInto.has(id) && !written.has(id) && isVersionRaised(changes, id),
  )
  return raised.length === 0 ? null : arrayLiteral(raised.map(({ id }) => places.get(id)))
}
