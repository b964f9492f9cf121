/**
 * Composes the parameters of `save_changes` from the changes of one micro-batch. Changes of one key are combined into
 * one row where possible, and rows are sorted: two saves that touch the same rows wait for each other instead of
 * deadlocking.
 */
import { type Changes, isVersionRaised } from '../../rules/changes.ts'
import { readableProperties } from '../../rules/campaigns/trigger-event.ts'
import { type EnrolmentState, type State, survivorOf } from '../../rules/state.ts'
import { writeLines } from '../../outbox/pack-events.ts'
import { hashKey } from '../load/collect-lookups.ts'
import { type Touched, contactRecord, revenueRecords, statisticRecords, touchedContacts } from './contact-records.ts'
import { identityRecords } from './identity-records.ts'
import { inSnakeCase } from '../../stores/in-snake-case.ts'
import { type ContactPositions, mergeRecords } from './merge-records.ts'
import { encodeEvent } from '../../outbox/timeline-row.ts'
import { visitorRecords } from './visitor-records.ts'
import { columnOf } from '../profile-columns.ts'
import { segmentRecords } from './segment-records.ts'
import { byId, byText } from './sort-records.ts'
import { COLUMNS, type ColumnList, type RowsOf } from './save-parameters.ts'
import { arrayLiteral, snakeRecords, writeColumns, writeRecords } from '../../stores/write-columns.ts'

export function recordsOf(state: State, changes: Changes) {
  /** Assigns rows of contacts that were merged away in this batch to the survivor. */
  const moved = <Row extends { contactId: string }>(row: Row): Row => {
    const contactId = survivorOf(state, row.contactId)
    return contactId === row.contactId ? row : { ...row, contactId }
  }
  const touched = touchedContacts(state, changes)
  const recorded = touched.filter(({ changed }) => changed)
  const people = [...new Set([...touched.map(({ id }) => id), ...state.contacts.keys()])]
  const places: ContactPositions = new Map(people.map((id, at) => [id, at + 1]))
  const identities = identityRecords(state, changes, places)
  const keys = keyRecords(state, changes)
  const columns = <List extends ColumnList>(list: List, rows: RowsOf<List>) => writeColumns(COLUMNS[list], rows)
  return {
    /** All contacts that the decision was about, the changed ones first. */
    people: people.map((id) => ({ id, businessId: state.contacts.get(id)?.businessId ?? '' })),
    /** For each changed contact: whether its snapshot changes. */
    changed: touched.map(({ changed }) => changed),
    keyCount: keys.length,
    /** The rows of the timeline. */
    events: writeLines(changes.events.map((event) => encodeEvent(moved(event)))),
    /** Lists, by parameter of `save_changes`. */
    lists: {
      businesses: columns('businesses', businessRecords(state, changes)),
      assumed: columns('assumed', assumedContacts(state, places)),
      raised: raisedPlaces(state, changes, recorded, places),
      contacts: columns('contacts', recorded.map(contactRecord(state, changes, places))),
      merges: columns('merges', mergeRecords(state, changes, places)),
      new_identities: columns('new_identities', identities.inserted),
      statistics: columns('statistics', touched.flatMap(statisticRecords(places))),
      revenue: columns('revenue', touched.flatMap(revenueRecords(places))),
      keys: columns('keys', keys),
      new_fields: snakeRecords(changes.newFields),
      released: snakeRecords(identities.released),
      kept_identities: snakeRecords(identities.kept),
      primaries: snakeRecords(identities.primaries),
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
      awaited_events: snakeRecords([...changes.awaitedEvents.values()].map(moved)),
      message_events: snakeRecords(changes.messageEvents),
      ...visitorRecords(state, changes),
      identifications: snakeRecords(changes.identifications.map(moved)),
      subscriptions: snakeRecords([...changes.subscriptions.values()].map(({ was: _was, ...choice }) => choice)),
      past_choices: snakeRecords(changes.pastChoices.map(moved)),
      merge_log: snakeRecords(changes.mergeLog),
      erasures: snakeRecords(changes.erasures),
      edits: snakeRecords(changes.edits.map((edit) => ({ ...edit, cleared: edit.cleared.map(columnOf) }))),
      deliveries: snakeRecords(changes.deliveries.map(moved)),
      ...segmentRecords(state, changes, places),
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
    event: key.event,
  }))
  return records.sort((a, b) => byText(a.key_hash, b.key_hash))
}

/**
 * Lists all contacts that the decision read, changed or not: with other versions, the decision would have been
 * different.
 */
function assumedContacts(state: State, places: ContactPositions) {
  return [...state.contacts.values()]
    .filter((contact) => contact.version !== null)
    .sort(byId)
    .map(({ id, version }) => ({ place: places.get(id), version }))
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
  const written = new Set(recorded.map(({ id }) => id))
  const raised = [...state.contacts.values()].filter(
    ({ id, version }) =>
      version !== null && !state.mergedInto.has(id) && !written.has(id) && isVersionRaised(changes, id),
  )
  return raised.length === 0 ? null : arrayLiteral(raised.map(({ id }) => places.get(id)))
}
