/** Links browsers to contacts (decisions, "Callers without a secret key"), with the browser's history. */
import { type DecisionContext, deltaOf } from '../changes.ts'
import { joinHistory } from './join-history.ts'
import { MAX_BROWSERS, UnreadError } from '../limits.ts'
import {
  type BrowserCount,
  type ContactState,
  type BrowserListing,
  type State,
  type VisitorLink,
  type VisitorState,
  scopedKey,
  survivorOf,
  waitsForKey,
} from '../state.ts'
import { addLink, changeOf, confirmLinks, visitorOf } from './visitor-links.ts'

/** The maximum number of contacts per visitor id. An id that more contacts share is a constant, or a public device. */
export const MAX_CONTACTS_PER_VISITOR = 1000

/**
 * `new`: the contact lists the browser, and did not before. `known`: the contact already listed it. `waits`: the
 * contact will list it once a keyed call names the browser. `crowded`: too many contacts; the browser is linked to
 * none. `full`: the contact has the maximum number of browsers; this one has no contact until another person is
 * identified in it.
 */
export type LinkOutcome = 'new' | 'known' | 'waits' | 'crowded' | 'full'

export interface VisitorIdentification {
  visitorId: string
  keyed: boolean
  /** Time of receipt, in epoch ms. */
  at: number
  /** Time when the caller identified the person, in epoch ms. */
  since: number
  /**
   * True when the call includes its age, or is a replayed dead letter: another person may have been identified since
   * then.
   */
  mayBeLate: boolean
}
interface LinkProposal extends VisitorIdentification {
  /** True when the link waits until a keyed call names the browser. */
  waits: boolean
}

/**
 * Links a browser to the contact that was identified in it. Later activity belongs to this contact; earlier activity
 * stays with the earlier contact. Beyond `MAX_CONTACTS_PER_VISITOR` contacts, the browser has no contact from then on.
 */
export function linkVisitor(
  context: DecisionContext,
  contact: ContactState,
  identification: VisitorIdentification,
): LinkOutcome {
  const { state } = context
  const visitor = visitorOf(state, contact.businessId, identification.visitorId)
  if (visitor.crowded) return 'crowded'
  const listing = listingOf(state, visitor, contact)
  visitor.crowded = !listing && countListings(state, visitor) >= MAX_CONTACTS_PER_VISITOR
  if (visitor.crowded) {
    reassignVisitor(context, visitor, null, { ...identification, waits: false })
    return 'crowded'
  }
  const proposal = { ...identification, waits: !identification.keyed && !listing?.keyed && waitsForKey(state, contact) }
  const isLate =
    identification.mayBeLate &&
    visitor.newest !== null &&
    latestStart(identification.since) < visitor.newest.identifiedAt
  if (isAtLimit(state, contact, listing, proposal.waits)) {
    if (visitor.current !== null && !isLate)
      reassignVisitor(context, visitor, null, { ...identification, waits: false })
    return 'full'
  }
  const waitsForThem = isSameContact(state, visitor.newest?.waitsFor, contact)
  if (!proposal.waits && visitor.waits && (waitsForThem || (identification.keyed && !isLate)))
    confirmLinks(context, visitor, contact, identification)
  if (isLate) insertLate(context, visitor, contact, proposal)
  else if (!isSameContact(state, visitor.current, contact) && !(proposal.waits && waitsForThem))
    reassignVisitor(context, visitor, contact, proposal)
  return listVisitor(context, visitor, contact, proposal)
}

/**
 * Links a browser to the contact of an event. This links a browser that has no contact, but never moves one. Waiting
 * links of the browser become links of the contact.
 */
export function linkByEvent(
  context: DecisionContext,
  contact: ContactState,
  identification: VisitorIdentification,
): LinkOutcome | null {
  const { state } = context
  const visitor = visitorOf(state, contact.businessId, identification.visitorId)
  if (visitor.current === null || isSameContact(state, visitor.current, contact))
    return linkVisitor(context, contact, identification)
  if (!visitor.waits || !identification.keyed || visitor.crowded) return null
  if (isAtLimit(state, contact, listingOf(state, visitor, contact), false)) return 'full'
  confirmLinks(context, visitor, contact, identification)
  return listVisitor(context, visitor, contact, { ...identification, waits: false })
}

/** Browsers send ages, which vary with network delay: an event right after an identification may seem older. */
const CLOCK_SKEW_MS = 5000

/** Returns the latest start of an identification that applies to an event at `at`, in epoch ms. */
export const latestStart = (at: number): number => at + CLOCK_SKEW_MS

/** Returns the link of a browser at an instant; undefined when it had none yet. */
export function holderAt({ links }: VisitorState, at: number): VisitorLink | undefined {
  return links.findLast(({ fromAt }) => fromAt <= latestStart(at))
}

/**
 * Returns whether an event within a link is in the past: another link follows, or the event happened before the
 * identification.
 */
export const isPastIn = ({ newest }: VisitorState, link: VisitorLink, at: number): boolean =>
  link !== newest || latestStart(at) < link.identifiedAt

const isSameContact = (state: State, contactId: string | null | undefined, contact: ContactState): boolean =>
  Boolean(contactId) && survivorOf(state, contactId ?? '') === contact.id

/** Moves the browser to the contact. With null, it has no contact from then on. */
function reassignVisitor(
  context: DecisionContext,
  visitor: VisitorState,
  contact: ContactState | null,
  { at, since, waits }: LinkProposal,
): void {
  const change = changeOf(context, visitor, at)
  const holder = waits ? null : contact
  // Events that wait for a keyed call are not assigned to the next contact.
  if (holder && visitor.current === null && !visitor.waits) joinHistory(context, holder, visitor, change, at)
  const fromAt = startOfNext(visitor, since)
  addLink(context, visitor, linkOf(contact, { fromAt, identifiedAt: Math.max(fromAt, since), waits }), change)
}

const linkOf = (
  contact: ContactState | null,
  { fromAt, identifiedAt, waits }: { fromAt: number; identifiedAt: number; waits: boolean },
): VisitorLink => {
  const contactId = contact?.id ?? null
  return { fromAt, identifiedAt, contactId: waits ? null : contactId, waitsFor: waits ? contactId : null }
}

/**
 * Returns the start of the next link. The first contact gets all earlier history. The next contact after an erasure
 * gets the history since then.
 */
function startOfNext({ newest, erasedUntil }: VisitorState, since: number): number {
  if (newest === null) return 0
  const isUnowned = newest.contactId === null && newest.waitsFor === null
  // The clock may have been set back: a link never starts before the previous one.
  return Math.max(isUnowned ? (erasedUntil ?? since) : since, newest.fromAt + 1, newest.identifiedAt)
}

/**
 * Inserts a link that is reported after later ones. The contact gets the time until the next link, and the browser
 * keeps its current contact. Events that are already recorded are not moved.
 */
function insertLate(
  context: DecisionContext,
  visitor: VisitorState,
  contact: ContactState,
  { at, since, waits }: LinkProposal,
): void {
  const { state } = context
  const existing = visitor.links.findLast(({ fromAt }) => fromAt <= since)
  if (existing && (existing.fromAt === since || isSameContact(state, existing.contactId ?? existing.waitsFor, contact)))
    return
  const change = changeOf(context, visitor, at)
  // The existing contact of that time was identified later. From then on, the time belongs to that contact again.
  if (existing && existing.identifiedAt > since)
    addLink(context, visitor, { ...existing, fromAt: existing.identifiedAt }, change, true)
  addLink(context, visitor, linkOf(contact, { fromAt: since, identifiedAt: since, waits }), change, true)
}

/** Returns the contact's listing, combined with those of contacts that were merged into it in this batch. */
function listingOf(state: State, visitor: VisitorState, contact: ContactState): BrowserListing | undefined {
  const theirs = [...visitor.listedBy].filter(([id]) => survivorOf(state, id) === contact.id)
  if (theirs.length <= 1) return theirs[0]?.[1]
  for (const [id] of theirs) visitor.listedBy.delete(id)
  const listings = theirs.map(([, listing]) => listing)
  const merged = { keyed: listings.some(({ keyed }) => keyed), waits: listings.every(({ waits }) => waits) }
  visitor.listedBy.set(contact.id, merged)
  return merged
}

const countListings = (state: State, { listedBy }: VisitorState): number =>
  new Set([...listedBy.keys()].map((id) => survivorOf(state, id))).size

/** Returns whether the contact has the maximum number of browsers. Waiting browsers have a separate limit. */
function isAtLimit(state: State, contact: ContactState, listing: BrowserListing | undefined, waits: boolean): boolean {
  if (listing && (waits || !listing.waits)) return false
  const { listed, waiting } = countBrowsers(state, contact)
  return (waits ? waiting : listed) >= MAX_BROWSERS
}

function countBrowsers(state: State, contact: ContactState): BrowserCount {
  if (contact.browsers === null) throw new UnreadError(state, contact)
  return contact.browsers
}

function listVisitor(
  { state, changes }: DecisionContext,
  visitor: VisitorState,
  contact: ContactState,
  { keyed, waits, at }: LinkProposal,
): LinkOutcome {
  const known = listingOf(state, visitor, contact)
  const isNew = !waits && (known?.waits ?? true)
  if (!known || isNew || (keyed && !known.keyed)) {
    if (!known || isNew) {
      const { listed, waiting } = countBrowsers(state, contact)
      const left = known ? waiting - 1 : waiting
      contact.browsers = waits ? { listed, waiting: waiting + 1 } : { listed: listed + 1, waiting: left }
    }
    deltaOf(changes, contact.id).raisesVersion = true
    const listing = Object.assign(
      known ?? { keyed: false, waits: true },
      !waits && { waits: false },
      keyed && { keyed },
    )
    const { businessId, visitorId } = visitor
    const key = `${scopedKey(businessId, visitorId)} ${contact.id}`
    visitor.listedBy.set(contact.id, listing)
    const linkedAt = changes.listedVisitors.get(key)?.linkedAt ?? at
    changes.listedVisitors.set(key, { businessId, visitorId, contactId: contact.id, linkedAt, listing })
  }
  if (waits) return 'waits'
  return isNew ? 'new' : 'known'
}
