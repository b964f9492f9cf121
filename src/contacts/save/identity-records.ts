/** The rows of the identities of a micro-batch. */
import type { Changes, IdentityChange, PrimaryChange } from '../../rules/changes.ts'
import type { IdentityKind } from '../../rules/events/facts.ts'
import { type ContactState, type State, identityKey, survivorOf } from '../../rules/state.ts'
import type { ContactPositions } from './merge-records.ts'
import { byFirst } from './sort-records.ts'

/**
 * Identities that Postgres does not have are inserted, never updated: if another worker has inserted one, that is a
 * conflict. They are numbered in the order in which they were first sent or proven, even when their contacts are merged.
 */
export function identityRecords(state: State, changes: Changes, places: ContactPositions) {
  const { identities } = changes
  const primaries = primariesOf(state, changes)
  const leaving = [...identities].filter(([, change]) => change.row === 'leaves').sort(byFirst)
  const held = [...identities.values()].flatMap((change, at) => {
    const contact = holderOf(state, change)
    const own = contact?.identities.find(({ kind, value }) => kind === change.kind && value === change.value)
    return contact && own ? [{ ...change, contactId: contact.id, proven: own.proven, nth: at + 1 }] : []
  })
  return {
    released: leaving.map(([, change]) => change),
    primaries: [...primaries.values()].filter((one) => !isInsertedAlone(state, changes, one)),
    kept: held.filter(({ row }) => row === 'stays'),
    inserted: held
      .filter(({ row }) => row !== 'stays')
      .map(({ kind, value, contactId, proven, phoneRead, nth }) => ({
        place: places.get(contactId),
        kind,
        value,
        proven,
        phone_read: phoneRead,
        nth,
        turn: isOnly(state, contactId, kind) ? turnOf(primaries.get(`${contactId} ${kind}`), value) : null,
      })),
  }
}

/** `turn`: its place among the decisions of this batch, from 1. Of addresses that are united later, the last one counts. */
type Turn = PrimaryChange & { turn: number }

const turnOf = (primary: Turn | undefined, value: string): number | null =>
  primary?.value === value ? primary.turn : null

/** Returns the last decision for each contact and kind, after the merges of this batch. */
function primariesOf(state: State, { primaries }: Changes): Map<string, Turn> {
  const last = new Map<string, Turn>()
  let turn = 0
  for (const one of primaries.values()) {
    const contactId = survivorOf(state, one.contactId)
    const isHeld = state.contacts
      .get(contactId)
      ?.identities.some(({ kind, value }) => kind === one.kind && (one.value === null || value === one.value))
    turn += 1
    if (isHeld) last.set(`${contactId} ${one.kind}`, { ...one, contactId, turn })
  }
  return last
}

const isOnly = (state: State, contactId: string, kind: IdentityKind): boolean =>
  state.contacts.get(contactId)?.identities.filter((identity) => identity.kind === kind).length === 1

/** Returns whether it is a new address that has no others beside it: it is inserted as primary. */
function isInsertedAlone(
  state: State,
  { identities }: Changes,
  { businessId, contactId, kind, value }: PrimaryChange,
): boolean {
  if (value === null || !isOnly(state, contactId, kind)) return false
  const change = identities.get(identityKey(businessId, kind, value))
  return change !== undefined && change.row !== 'stays'
}

function holderOf(state: State, { businessId, kind, value }: IdentityChange): ContactState | undefined {
  const ownerId = state.owners[kind].get(businessId, value)
  return ownerId === undefined ? undefined : state.contacts.get(survivorOf(state, ownerId))
}
