/** The rows of the contacts of a micro-batch, with their statistics and revenue. */
import { type Changes, isVersionRaised } from '../../rules/changes.ts'
import { type ContactDelta, emptyDelta } from '../../rules/contact-delta.ts'
import { CHANNELS } from '../../rules/events/facts.ts'
import { type ContactState, type State, survivorOf } from '../../rules/state.ts'
import type { ContactPositions } from './merge-records.ts'
import { profileRecord } from '../profile-columns.ts'
import { byFirst, byId } from './sort-records.ts'
import { arrayLiteral } from '../../stores/write-columns.ts'

export interface Touched {
  id: string
  delta: ContactDelta
  /** Whether its snapshot for the timeline changes. */
  changed: boolean
}

/** Lists all contacts with changes, for the timeline and its erasure. */
export function touchedContacts(state: State, changes: Changes): Touched[] {
  const touched = [...changes.deltas].map(([id, delta]) => touchedContact(state, changes, id, delta))
  // Contacts that were created and merged within this batch need a row, too, because answers have named their ids.
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

export const contactRecord =
  (state: State, changes: Changes, places: ContactPositions) =>
  ({ id, delta }: Touched) => {
    const contact = state.contacts.get(id)
    const { profile } = delta
    const isRaised = state.mergedInto.has(id) ? delta.raisesVersion : isVersionRaised(changes, id)
    return {
      place: places.get(id),
      created_at: contact?.createdAt,
      raised: contact?.version === null || isRaised ? 1 : 0,
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

/** Returns whether the contact's snapshot changes; false when only statistics change. */
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

/** Returns whether consent changes. Without a record, a contact is not subscribed. */
const hasChangedConsent = ({ subscriptions }: Changes, contactId: string): boolean =>
  CHANNELS.some((channel) => {
    const change = subscriptions.get(`${contactId} ${channel}`)
    return change !== undefined && change.subscribed !== (change.was?.subscribed ?? false)
  })

export const statisticRecords =
  (places: ContactPositions) =>
  ({ id, delta }: Touched) =>
    [...delta.statistics].sort(byFirst).map(([event, { firstAt, lastAt, count }]) => ({
      place: places.get(id),
      event,
      first_at: firstAt,
      last_at: lastAt,
      count,
    }))

export const revenueRecords =
  (places: ContactPositions) =>
  ({ id, delta }: Touched) =>
    [...delta.revenue].sort(byFirst).map(([currency, amount]) => ({ place: places.get(id), currency, amount }))
