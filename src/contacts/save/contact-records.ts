/** The columns of the contacts of a micro-batch, with their statistics and revenue. */
import { type Changes, isVersionRaised } from '../../rules/changes.ts'
import { type ContactDelta, emptyDelta } from '../../rules/contact-delta.ts'
import { CHANNELS } from '../../rules/events/facts.ts'
import { type ContactState, type State, survivorOf } from '../../rules/state.ts'
import { profileColumns } from '../profile-columns.ts'
import { type Cell, arrayLiteral } from '../../stores/write-columns.ts'
import type { TableOf } from './save-parameters.ts'
import { byFirst } from './sort-records.ts'

export interface Touched {
  contact: ContactState
  delta: ContactDelta
  /** The position of the contact in the list of the save, starting at 1. */
  place: number
  /** Its position among the contacts that Postgres has (`assumed`), starting at 1. Null: this save creates it. */
  assumed: number | null
  /** Whether its snapshot for the timeline changes. */
  changed: boolean
}

/**
 * Lists all contacts with changes, for the timeline and its erasure.
 * @param contacts all contacts of the state; the result has the same order
 */
export function touchedContacts(state: State, changes: Changes, contacts: readonly ContactState[]): Touched[] {
  const touched: Touched[] = []
  let stored = 0
  for (const contact of contacts) {
    const { id } = contact
    const assumed = contact.version === null ? null : ++stored
    // Contacts that were created and merged within this batch need a row, too, because answers have named their ids.
    const isNamed = state.mergedInto.has(id) && changes.newContacts.has(id)
    const delta = changes.deltas.get(id) ?? (isNamed ? emptyDelta() : undefined)
    if (!delta) continue
    const changed = hasChanged(contact, delta) || hasChangedConsent(changes, id)
    touched.push({ contact, delta, place: touched.length + 1, assumed, changed })
  }
  return touched
}

export function newContactColumns(state: State, touched: readonly Touched[]): TableOf<'new_contacts'> {
  return {
    place: touched.map(({ place }) => place),
    created_at: touched.map(({ contact }) => contact.createdAt),
    merged_into: touched.map(({ contact: { id } }) => (state.mergedInto.has(id) ? survivorOf(state, id) : null)),
    ...contactColumns(touched),
  }
}

export function knownContactColumns(changes: Changes, touched: readonly Touched[]): TableOf<'known_contacts'> {
  return {
    assumed: touched.map(({ assumed }) => assumed),
    raised: touched.map(({ contact }) => (isVersionRaised(changes, contact.id) ? 1 : 0)),
    ...contactColumns(touched),
  }
}

function contactColumns(touched: readonly Touched[]) {
  const column = (cellOf: (one: Touched) => Cell): Cell[] => touched.map(cellOf)
  return {
    keyed: column(({ delta }) => delta.keyed),
    stage: column(({ delta }) => delta.stage),
    orders: column(({ delta }) => delta.orders),
    tags: column(({ delta }) => arrayLiteral([...delta.tags])),
    traits: column(({ delta }) => writeTraits(delta)),
    ...profileColumns((field) => column(({ delta }) => delta.profile[field])),
    page_filled: column(({ contact }) => contact.pageFilled || null),
  }
}

const writeTraits = ({ traits }: ContactDelta): string =>
  traits.size === 0 ? '{}' : JSON.stringify(Object.fromEntries(traits))

/** Returns whether the contact's snapshot changes; false when only statistics change. */
function hasChanged(contact: ContactState, delta: ContactDelta): boolean {
  if (contact.version === null) return true
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
  subscriptions.size > 0 &&
  CHANNELS.some((channel) => {
    const change = subscriptions.get(`${contactId} ${channel}`)
    return change !== undefined && change.subscribed !== (change.was?.subscribed ?? false)
  })

export function statisticColumns(touched: readonly Touched[]): TableOf<'statistics'> {
  const columns: TableOf<'statistics'> = { place: [], of_new: [], event: [], first_at: [], last_at: [], count: [] }
  for (const { place, assumed, delta } of touched) {
    for (const [event, { firstAt, lastAt, count }] of entriesInOrder(delta.statistics)) {
      columns.place.push(place)
      columns.of_new.push(assumed === null)
      columns.event.push(event)
      columns.first_at.push(firstAt)
      columns.last_at.push(lastAt)
      columns.count.push(count)
    }
  }
  return columns
}

export function revenueColumns(touched: readonly Touched[]): TableOf<'revenue'> {
  const columns: TableOf<'revenue'> = { place: [], currency: [], amount: [] }
  for (const { place, delta } of touched) {
    for (const [currency, amount] of entriesInOrder(delta.revenue)) {
      columns.place.push(place)
      columns.currency.push(currency)
      columns.amount.push(amount)
    }
  }
  return columns
}

/** Most contacts have one entry. */
const entriesInOrder = <Value>(values: ReadonlyMap<string, Value>): Iterable<[string, Value]> =>
  values.size < 2 ? values : [...values].sort(byFirst)
