/** Save: one call of `save_changes`, which is one transaction; it moves the partition's position together with the effects. */
import { type Changes, type ContactDelta, emptyDelta } from '../rules/changes.ts'
import { type State, survivorOf } from '../rules/state.ts'
import type { Sql } from '../stores/postgres.ts'
import { encodeTimelineRow } from '../timeline/outbox-row.ts'
import { hashKey } from './load-state.ts'

/** An item that could not be applied, kept for an operator. `payload` is the request as it travelled, with this item alone. */
export interface DeadLetter {
  id: string
  businessId: string | null
  streamId: string
  kind: string
  reason: string
  payload: string
  receivedAt: number | null
}

export interface Save {
  partition: string
  epoch: number
  from: string
  to: string
  /** Kept with the position: which attempt it was that committed. */
  attempt: string
  dryRun: boolean
  state: State
  changes: Changes
  deadLetters: DeadLetter[]
  /** Dead letters that this save applies. */
  replayed: string[]
}

/**
 * True: written. False: the position was not `from` at this epoch, nothing is written.
 * Throws the faults that `faultKind` sorts; a dry run that would have gone through throws DRY_RUN.
 */
export async function saveChanges(sql: Sql, save: Save): Promise<boolean> {
  const { changes, state } = save
  const final = (contactId: string) => survivorOf(state, contactId)
  const deltas = [...changes.deltas].map(([id, delta]) => contactRow(state, id, delta))
  const isNew = (row: { id: string }) => changes.newContacts.has(row.id)
  const [row] = await sql<[{ saved: boolean }]>`
    select save_changes(
      ${save.partition}, ${save.epoch}, ${save.from}, ${save.to}, ${save.attempt}, ${save.dryRun},
      ${JSON.stringify(assumedBusinesses(save))}::text::json,
      ${list(changes.newFields.map((f) => ({ business_id: f.businessId, key: f.key, type: f.type, created_at: f.createdAt })))}::text::json,
      ${list(assumedContacts(state))}::text::json,
      ${list([...deltas.filter(isNew), ...mergedNewContacts(save)].map((row) => newContactRow(changes, state, row)))}::text::json,
      ${list(identityRows(changes, final))}::text::json,
      ${list(endedEnrolmentRows(changes))}::text::json,
      ${list(changes.merges.map((m) => ({ business_id: m.businessId, losing_id: m.losingId, surviving_id: m.survivingId })))}::text::json,
      ${list(deltas.filter((row) => !isNew(row)))}::text::json,
      ${list(statisticRows(state, changes))}::text::json,
      ${list(revenueRows(state, changes))}::text::json,
      ${list(changes.newKeys.map((k) => ({ business_id: k.businessId, key_hash: hashKey(k.key), contact_id: final(k.contactId), occurred_at: k.occurredAt })))}::text::json,
      ${list(visitorRows(changes.newVisitors, final))}::text::json,
      ${list(visitorRows(changes.listedVisitors, final))}::text::json,
      ${list(identificationRows(changes, final))}::text::json,
      ${list(newEnrolmentRows(changes, final))}::text::json,
      ${list(subscriptionRows(state, changes, final))}::text::json,
      ${list(mergeLogRows(changes))}::text::json,
      ${timelineRows(changes, final)}, ${changes.events.length},
      ${list(deadLetterRows(save.deadLetters))}::text::json,
      ${list(save.replayed)}::text::json,
      ${list(changes.erasures.map((e) => ({ business_id: e.businessId, contact_id: e.contactId })))}::text::json
    ) as saved`
  return row.saved
}

/** The SQLSTATE of a dry run that would have been written. */
export const DRY_RUN = 'SL003'

/** An empty list is null, so that its statement is skipped. */
const list = (rows: unknown[]) => (rows.length === 0 ? null : JSON.stringify(rows))

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

function assumedBusinesses({ state, changes }: Save) {
  const newFields = (id: string) => changes.newFields.filter((field) => field.businessId === id).length
  return [...state.businesses.values()]
    .map(({ id, configVersion }) => ({ id, version: configVersion, new_fields: newFields(id) }))
    .sort(byId)
}

/** All that the decision looked at, touched or not: it would have been another one had they been different. */
function assumedContacts(state: State) {
  return [...state.contacts.values()]
    .filter((contact) => contact.version !== null)
    .map(({ businessId, id, version }) => ({ business_id: businessId, id, version }))
    .sort(byId)
}

function contactRow(state: State, id: string, delta: ContactDelta) {
  const { profile } = delta
  return {
    business_id: state.contacts.get(id)?.businessId,
    id,
    raises_version: delta.raisesVersion,
    keyed: delta.keyed,
    stage: delta.stage,
    orders: delta.orders,
    tags: delta.tags.size === 0 ? null : [...delta.tags],
    traits: delta.traits.size === 0 ? null : Object.fromEntries(delta.traits),
    first_name: profile.firstName,
    last_name: profile.lastName,
    country: profile.country,
    city: profile.city,
    language: profile.language,
    timezone: profile.timezone,
  }
}
type ContactRow = ReturnType<typeof contactRow>

/** Made and merged away within one batch: the row stays, since its id was answered. */
function mergedNewContacts({ state, changes }: Save): ContactRow[] {
  const gone = [...changes.newContacts.keys()].filter((id) => state.mergedInto.has(id))
  return gone.map((id) => contactRow(state, id, emptyDelta()))
}

function newContactRow(changes: Changes, state: State, row: ContactRow) {
  const merged = state.mergedInto.has(row.id)
  return {
    ...row,
    created_at: changes.newContacts.get(row.id)?.createdAt,
    merged_into: merged ? survivorOf(state, row.id) : null,
    tags: row.tags ?? [],
    traits: row.traits ?? {},
  }
}

type Final = (contactId: string) => string

function identityRows(changes: Changes, final: Final) {
  return [...changes.identities.entries()]
    .filter(([, change]) => !(change.isNew && change.contactId === null))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, change]) => ({
      business_id: change.businessId,
      kind: change.kind,
      value: change.value,
      contact_id: change.contactId === null ? null : final(change.contactId),
      proven: change.proven,
      phone_read: change.phoneRead,
      is_new: change.isNew,
    }))
}

function endedEnrolmentRows(changes: Changes) {
  return [...changes.endedEnrolments.values()].map(({ businessId, enrolment }) => ({
    business_id: businessId,
    id: enrolment.id,
    state: enrolment.state,
    ended_at: enrolment.endedAt,
  }))
}

function newEnrolmentRows(changes: Changes, final: Final) {
  return changes.newEnrolments.map(({ businessId, contactId, enrolment }) => ({
    business_id: businessId,
    id: enrolment.id,
    campaign_id: enrolment.campaignId,
    contact_id: final(contactId),
    state: enrolment.state,
    enrolled_at: enrolment.enrolledAt,
    received_at: enrolment.receivedAt,
    ended_at: enrolment.endedAt,
  }))
}

/** Sorted: two saves that touch the same rows queue up behind each other and do not deadlock. */
function statisticRows(state: State, changes: Changes) {
  return [...changes.deltas]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([contact_id, delta]) =>
      [...delta.statistics]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([event, statistic]) => ({
          business_id: state.contacts.get(contact_id)?.businessId,
          contact_id,
          event,
          first_at: statistic.firstAt,
          last_at: statistic.lastAt,
          count: statistic.count,
        })),
    )
}

function revenueRows(state: State, changes: Changes) {
  return [...changes.deltas]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([contact_id, delta]) =>
      [...delta.revenue].map(([currency, amount]) => ({
        business_id: state.contacts.get(contact_id)?.businessId,
        contact_id,
        currency,
        amount,
      })),
    )
}

function visitorRows(links: Changes['newVisitors'], final: Final) {
  return links.map((link) => ({
    business_id: link.businessId,
    visitor_id: link.visitorId,
    contact_id: final(link.contactId),
    linked_at: link.linkedAt,
  }))
}

function identificationRows(changes: Changes, final: Final) {
  return changes.identifications.map((identification) => ({
    business_id: identification.businessId,
    contact_id: final(identification.contactId),
    id: identification.id,
    identified_at: identification.identifiedAt,
    method: identification.method,
    keyed: identification.keyed,
    visitor_id: identification.visitorId,
  }))
}

/** Once per contact and channel, as the working copy has it: of two contacts that became one, the opt-out stays. */
function subscriptionRows(state: State, changes: Changes, final: Final) {
  const rows = [...changes.subscriptions.values()].map((choice) => ({
    business_id: choice.businessId,
    contact_id: final(choice.contactId),
    channel: choice.channel,
    subscribed: state.contacts.get(final(choice.contactId))?.subscriptions[choice.channel],
    method: choice.method,
    recorded_at: choice.recordedAt,
  }))
  return [...new Map(rows.map((row) => [`${row.contact_id} ${row.channel}`, row])).values()]
}

function mergeLogRows(changes: Changes) {
  return changes.mergeLog.map((entry) => ({
    business_id: entry.businessId,
    id: entry.id,
    action: entry.action,
    contact_id: entry.contactId,
    losing_id: entry.losingId,
    evidence: entry.evidence,
    recorded_at: entry.recordedAt,
  }))
}

function deadLetterRows(deadLetters: DeadLetter[]) {
  return deadLetters.map((letter) => ({
    id: letter.id,
    business_id: letter.businessId,
    stream_id: letter.streamId,
    kind: letter.kind,
    reason: letter.reason,
    payload: letter.payload,
    received_at: letter.receivedAt,
  }))
}

function timelineRows(changes: Changes, final: Final): string {
  return changes.events
    .map(({ eventId, businessId, contactId, receivedAt, source, fact }) =>
      encodeTimelineRow({
        business_id: businessId,
        contact_id: final(contactId),
        event_id: eventId,
        event: fact.event,
        occurred_ms: fact.occurredAt,
        received_ms: receivedAt,
        type: fact.meaning.type,
        value: fact.value,
        currency: fact.meaning.currency,
        counted: fact.meaning.counted,
        is_order: fact.meaning.order ? 1 : 0,
        properties: fact.properties ?? '',
        source,
        idempotency_key: fact.idempotencyKey,
        visitor_id: fact.visitorId,
      }),
    )
    .join('\n')
}
