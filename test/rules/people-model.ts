/** People as the rules leave them after any calls, without stores, for properties about who owns what. */
import * as fc from 'fast-check'
import { emptyChanges } from '../../src/rules/changes.ts'
import { IDENTITY_KINDS, type IdentityKind } from '../../src/rules/events/facts.ts'
import { findOrCreateContact } from '../../src/rules/identity/find-or-create-contact.ts'
import type { PageIdentify } from '../../src/rules/business-state.ts'
import { type State, emptyState, survivorOf } from '../../src/rules/state.ts'

export interface SentCall {
  keyed: boolean
  identity: Partial<Record<IdentityKind, string>>
}

/** Few values, so that calls refer to the same people. */
const VALUES: Record<IdentityKind, string[]> = {
  platformCustomerId: ['1', '2', '3'],
  email: ['a@x', 'b@x', 'c@x'],
  phone: ['55501', '55502', '55503'],
}
const field = (kind: IdentityKind) => fc.option(fc.constantFrom(...VALUES[kind]), { nil: undefined })
const identity = fc
  .record({ platformCustomerId: field('platformCustomerId'), email: field('email'), phone: field('phone') })
  .map((sent) => Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)))
  .filter((sent) => Object.keys(sent).length > 0)
export const calls = fc.array(fc.record({ keyed: fc.boolean(), identity }), { maxLength: 14 })
export const pageIdentify = fc.constantFrom<PageIdentify[]>('open', 'confirmed')

/** Maps `kind value` to its owner, and to whether a keyed call has sent it. */
export type Held = Map<string, { contactId: string; proven: boolean }>

export interface Snapshot {
  held: Held
  /** Maps contacts that were not merged away to whether a keyed call has used them. */
  keyed: Map<string, boolean>
}

export interface Answered extends SentCall {
  contactId: string
  isNew: boolean
  warnings: number
  before: Snapshot
  after: Snapshot
}

export function openPeople(setting: PageIdentify) {
  const state = emptyState()
  state.businesses.set('b', {
    id: 'b',
    configVersion: 1,
    active: true,
    fields: new Map(),
    campaigns: [],
    awaited: new Set(),
    hasConditions: false,
    awaitedConditions: new Map(),
    isKeyed: false,
    isEnrolling: false,
    destinations: [],
    pageIdentify: setting,
    topics: new Map(),
    segmentRules: [],
    segments: null,
  })
  let ids = 0
  const newId = () => String((ids += 1)).padStart(6, '0')
  let receivedAt = 0
  return {
    state,
    send({ keyed, identity }: SentCall): Answered {
      receivedAt += 1
      const before = takeSnapshot(state)
      const call = { businessId: 'b', keyed, receivedAt }
      const { contact, isNew, warnings } = findOrCreateContact(
        { state, changes: emptyChanges(), newId, decidedAt: receivedAt },
        call,
        identity,
        null,
      )
      const after = takeSnapshot(state)
      return { keyed, identity, contactId: contact.id, isNew, warnings: warnings.length, before, after }
    },
    /** Returns the contact that an id in an answer stands for now. */
    survivor: (contactId: string) => survivorOf(state, contactId),
  }
}

function takeSnapshot(state: State): Snapshot {
  const present = [...state.contacts.values()].filter(({ id }) => !state.mergedInto.has(id))
  const held = present.flatMap(({ id, identities }) =>
    identities.map(({ kind, value, proven }) => [`${kind} ${value}`, { contactId: id, proven }] as const),
  )
  return { held: new Map(held), keyed: new Map(present.map(({ id, keyed }) => [id, keyed])) }
}

export const fieldsOf = ({ identity }: SentCall): string[] =>
  IDENTITY_KINDS.flatMap((kind) => (identity[kind] === undefined ? [] : [`${kind} ${identity[kind]}`]))

export const isId = (name: string): boolean => name.startsWith('platformCustomerId ')

/** Returns the values that the contact has; with `provenOnly`, only those that keyed calls have sent. */
export function namesOf({ held }: Snapshot, contactId: string, provenOnly = false): string[] {
  return [...held].flatMap(([name, one]) => (one.contactId === contactId && (one.proven || !provenOnly) ? [name] : []))
}
