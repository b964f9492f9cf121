/** The columns of the contacts of a micro-batch, with their statistics and revenue. */
import { type Changes, isVersionRaised } from '../../rules/changes.ts'
import { type ContactDelta, emptyDelta } from '../../rules/contact-delta.ts'
import { CHANNELS, PROFILE_FIELDS } from '../../rules/events/facts.ts'
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
  /** Whether its snapshot for the timeline changes. */
  changed: boolean
}

/**
 * Lists all contacts with changes, for the timeline and its erasure.
 * @param contacts all contacts of the state; the result has the same order
 */
export function touchedContacts(state: State, changes: Changes, contacts: readonly ContactState[]): Touched[] {
  const touched: Touched[] = []
  for (const contact of contacts) {
    const { id } = contact
    // Contacts that were created and merged within this batch need a row, too, because answers have named their ids.
    const isNamed = state.mergedInto.has(id) && changes.newContacts.has(id)
    const delta = changes.deltas.get(id) ?? (isNamed ? emptyDelta() : undefined)
    if (!delta) continue
    const changed = hasChanged(contact, delta) || hasChangedConsent(changes, id)
    touched.push({ contact, delta, place: touched.length + 1, changed })
  }
  return touched
}

export function contactColumns(state: State, changes: Changes, touched: readonly Touched[]): TableOf<'contacts'> {
  const column = (cellOf: (one: Touched) => Cell): Cell[] => touched.map(cellOf)
  return {
    place: column(({ place }) => place),
    created_at: column(({ contact }) => contact.createdAt),
    raised: column((one) => (one.contact.version === null || isRaised(state, changes, one) ? 1 : 0)),
    keyed: column(({ delta }) => delta.keyed),
    merged_into: column(({ contact: { id } }) => (state.mergedInto.has(id) ? survivorOf(state, id) : null)),
    stage: column(({ delta }) => delta.stage),
    orders: column(({ delta }) => delta.orders),
    tags: column(({ delta }) => arrayLiteral([...delta.tags])),
    traits: column(({ delta }) => writeTraits(delta)),
    ...profileColumns((field) => column(({ delta }) => delta.profile[field])),
    page_filled: column(({ contact }) => contact.pageFilled || null),
  }
}

const isRaised = (state: State, changes: Changes, { contact: { id }, delta }: Touched): boolean =>
  state.mergedInto.has(id) ? delta.raisesVersion : isVersionRaised(changes, id)

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
    PROFILE_FIELDS.some((field) => field in delta.profile)
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
  const columns: TableOf<'statistics'> = { place: [], event: [], first_at: [], last_at: [], count: [] }
  for (const { place, delta } of touched) {
    for (const [event, { firstAt, lastAt, count }] of entriesInOrder(delta.statistics)) {
      columns.place.push(place)
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
