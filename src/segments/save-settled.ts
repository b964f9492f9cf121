import { uuidv7 } from 'uuidv7'
import { loadContacts } from '../contacts/load/load-state.ts'
import { saveChanges } from '../contacts/save/save-changes.ts'
import { sendersOf } from '../contacts/read/senders-of.ts'
import { type Changes, type DecisionContext, emptyChanges } from '../rules/changes.ts'
import type { BusinessState } from '../rules/business-state.ts'
import type { ContactState } from '../rules/state.ts'
import { faultKind } from '../stores/postgres.ts'
import type { SegmentDeps } from './segment-deps.ts'

export interface ContactId {
  business_id: string
  id: string
}

/** Settles one contact in the working copy. */
export type Settle = (context: DecisionContext, contact: ContactState, business: BusinessState) => void

/**
 * Loads contacts, settles each one, and saves them together. When one of them or the configuration has changed
 * meanwhile, half of them is tried, and so on. A single contact is tried twice, because the cached configuration may
 * have been outdated. A contact that keeps changing is left out, and is due again.
 * @returns the contacts that were settled
 */
export async function saveSettled<Contact extends ContactId>(
  deps: SegmentDeps,
  contacts: Contact[],
  settle: Settle,
  isRepeated = false,
): Promise<Contact[]> {
  const { sql, configs, now } = deps
  const state = await loadContacts(sql, configs, contacts)
  const context = { state, changes: emptyChanges(), newId: uuidv7, decidedAt: now() }
  for (const contact of state.contacts.values()) {
    const business = state.businesses.get(contact.businessId)
    if (business) settle(context, contact, business)
  }
  if (isEmpty(context.changes)) return contacts
  try {
    const save = {
      partition: null,
      epoch: 0,
      from: '',
      to: '',
      attempt: uuidv7(),
      dryRun: false,
      keysAssumedNew: false,
    }
    await saveChanges(sql, { ...save, ...context, deadLetters: [], replayed: [] })
    for (const sender of sendersOf(context.changes)) deps.wake?.(sender)
    return contacts
  } catch (error) {
    if (faultKind(error) !== 'conflict') throw error
    for (const { business_id } of contacts) configs.delete(business_id)
    if (contacts.length === 1) return isRepeated ? [] : saveSettled(deps, contacts, settle, true)
    const half = Math.ceil(contacts.length / 2)
    const first = await saveSettled(deps, contacts.slice(0, half), settle)
    return [...first, ...(await saveSettled(deps, contacts.slice(half), settle))]
  }
}

const isEmpty = ({ memberships, clocks, windows, doneRefreshes }: Changes): boolean =>
  memberships.size + clocks.size + windows.size + doneRefreshes.length === 0
