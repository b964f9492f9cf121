/** The links of a browser in the working copy, and their changes for the save. */
import type { DecisionContext } from '../changes.ts'
import type { VisitorChange } from './visitor-changes.ts'
import { joinHistory } from './join-history.ts'
import { type ContactState, type State, type VisitorLink, type VisitorState, scopedKey } from '../state.ts'

export function visitorOf(state: State, businessId: string, visitorId: string): VisitorState {
  const key = scopedKey(businessId, visitorId)
  const visitor = state.visitors.get(key) ?? {
    businessId,
    visitorId,
    current: null,
    crowded: false,
    waits: false,
    newest: null,
    erasedUntil: null,
    links: [],
    listedBy: new Map(),
    erasedAt: new Set<number>(),
    history: new Map(),
  }
  state.visitors.set(key, visitor)
  return visitor
}

/** Records the current contact of a browser. Call it before the working copy moves the browser to another contact. */
export function changeOf({ changes }: DecisionContext, visitor: VisitorState, at: number): VisitorChange {
  const { businessId, visitorId } = visitor
  const key = scopedKey(businessId, visitorId)
  const change = changes.visitors.get(key) ?? {
    businessId,
    visitorId,
    visitor,
    assumedContactId: visitor.current,
    contactId: null,
    linkedAt: at,
    joinedContactId: null,
    joinedCount: 0,
    joinedOrders: true,
  }
  changes.visitors.set(key, change)
  return change
}

/** `isLate`: the link is inserted before later ones, unless one with the same start exists. */
export function addLink(
  { changes }: DecisionContext,
  visitor: VisitorState,
  link: VisitorLink,
  change: VisitorChange,
  isLate = false,
): void {
  if (isLate && visitor.links.some(({ fromAt }) => fromAt === link.fromAt)) return
  const { businessId, visitorId } = visitor
  visitor.links = [...visitor.links, link].sort((a, b) => a.fromAt - b.fromAt)
  visitor.newest = visitor.links.at(-1) ?? null
  visitor.waits ||= link.waitsFor !== null
  changes.visitorLinks.push({ businessId, visitorId, link, isLate })
  if (isLate) return
  visitor.current = link.contactId
  change.contactId ??= link.contactId
}

/**
 * Confirms links: a trusted call names the browser for the contact, so the browser's waiting links and stored events
 * are assigned to the contact.
 */
export function confirmLinks(
  context: DecisionContext,
  visitor: VisitorState,
  contact: ContactState,
  { at, since }: { at: number; since: number },
): void {
  const { businessId, visitorId, newest } = visitor
  const change = changeOf(context, visitor, at)
  joinHistory(context, contact, visitor, change, at)
  const confirmed = newest !== null && newest.waitsFor !== null ? newest : null
  for (const link of visitor.links)
    if (link.waitsFor !== null) Object.assign(link, { contactId: contact.id, waitsFor: null })
  if (confirmed) {
    confirmed.identifiedAt = Math.max(confirmed.identifiedAt, since)
    visitor.current = contact.id
    change.contactId ??= contact.id
  }
  visitor.waits = false
  context.changes.linkSteps.push({
    businessId,
    contactId: contact.id,
    waits: false,
    visitorId,
    newest: confirmed && { fromAt: confirmed.fromAt, identifiedAt: confirmed.identifiedAt },
  })
}

/**
 * Makes links wait when a keyed call uses the contact for the first time: links made without a key wait from now on,
 * except for the browser that the call names. Events that these links have already brought stay with the contact.
 */
export function suspendLinks(context: DecisionContext, contact: ContactState, named: string | null, at: number): void {
  const { state, changes } = context
  const { businessId, id } = contact
  if (contact.keyed || state.businesses.get(businessId)?.pageIdentify !== 'confirmed') return
  changes.linkSteps.push({ businessId, contactId: id, waits: true, named })
  const stays = named === null ? undefined : state.visitors.get(scopedKey(businessId, named))?.listedBy.has(id)
  if (contact.browsers) {
    const { listed, waiting } = contact.browsers
    const stillListed = stays ? 1 : 0
    contact.browsers = { listed: stillListed, waiting: waiting + listed - stillListed }
  }
  for (const visitor of state.visitors.values()) {
    if (visitor.businessId !== businessId || visitor.visitorId === named) continue
    const listing = visitor.listedBy.get(id)
    if (listing) listing.waits = visitor.waits = true
    if (visitor.current === id) {
      changeOf(context, visitor, at)
      visitor.current = null
      visitor.waits = true
    }
    for (const link of visitor.links) if (link.contactId === id) Object.assign(link, { contactId: null, waitsFor: id })
  }
}
