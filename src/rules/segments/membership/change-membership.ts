import type { Changes } from '../../changes.ts'
import type { ContactState } from '../../state.ts'
import type { CompiledSegment } from '../compile/compile-segments.ts'
import type { MembershipChange } from './segment-changes.ts'

/**
 * Records that a contact entered or left. A change that undoes the previous one in this micro-batch cancels it, unless
 * time made one of them (segments, "Membership").
 * @returns false when it undoes the previous one
 */
export function changeMembership(
  { memberships, clocks, effects }: Changes,
  contact: ContactState,
  { no, segmentId, isBuilding, isWindowed }: CompiledSegment,
  change: Pick<MembershipChange, 'entered' | 'at' | 'cause' | 'isByTime'>,
): boolean {
  const { id: contactId, businessId, facts } = contact
  const key = membershipKey(contactId, no)
  const made = memberships.get(key) ?? []
  const last = made.at(-1)
  const isUndoing = last !== undefined && !last.isByTime && !change.isByTime && last.entered !== change.entered
  if (isUndoing) made.pop()
  else made.push({ businessId, contactId, no, ...change })
  memberships.set(key, made)
  if (isWindowed && facts) {
    facts.clock.changedAt.set(no, change.at)
    clocks.set(contactId, contact)
  }
  if (!isBuilding && !change.isByTime)
    effects?.push({ contactId, segmentId, kind: change.entered ? 'entered' : 'left' })
  return !isUndoing
}

/** Returns whether any change is recorded for a contact and a rule. */
export const hasChanged = (
  { memberships }: Changes,
  { id }: ContactState,
  { no }: Pick<CompiledSegment, 'no'>,
): boolean => (memberships.get(membershipKey(id, no))?.length ?? 0) > 0

const membershipKey = (contactId: string, no: number): string => `${contactId} ${no}`
