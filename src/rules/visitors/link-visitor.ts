/** Whose a browser is (decisions, "Callers without a secret key"), and what it brings along. */
import { type Deciding, deltaOf } from '../changes.ts'
import { joinHistory } from './join-history.ts'
import { MAX_BROWSERS, UnreadError } from '../limits.ts'
import {
  type BrowserCount,
  type ContactState,
  type Listing,
  type State,
  type VisitorLink,
  type VisitorState,
  scopedKey,
  survivorOf,
  waitsForKey,
} from '../state.ts'
import { addLink, changeOf, confirmLinks, visitorOf } from './visitor-links.ts'

/** How many contacts one visitor id may belong to. An id that very many send is a constant, or a public device. */
export const MAX_CONTACTS_PER_VISITOR = 1000

/**
 * `new`: the contact lists the browser from now on, and did not before. `waits`: it does not until a keyed call names the
 * browser. `crowded`: the visitor is not linked any more. `full`: the contact has the most visitors that it may have, and this one
 * belongs to no contact until another person is identified with it.
 */
export type Link = 'new' | 'known' | 'waits' | 'crowded' | 'full'

export interface Identification {
  visitorId: string
  keyed: boolean
  /** When it was received, in epoch ms. */
  at: number
  /** When it was made. */
  since: number
  /** It was reported late, or is a replayed dead letter: another person may have been identified since. */
  mayBeLate: boolean
}
interface Judged extends Identification {
  /** The link waits until a keyed call names the browser. */
  waits: boolean
}

/**
 * Links the visitor to the contact: what follows belongs to the contact, what came before stays where it was. A visitor with
 * too many contacts belongs to none of them from then on.
 */
export function linkVisitor(deciding: Deciding, contact: ContactState, said: Identification): Link {
  const { state } = deciding
  const visitor = visitorOf(state, contact.businessId, said.visitorId)
  if (visitor.crowded) return 'crowded'
  const listing = listingOf(state, visitor, contact)
  visitor.crowded = !listing && countListings(state, visitor) >= MAX_CONTACTS_PER_VISITOR
  if (visitor.crowded) {
    reassignVisitor(deciding, visitor, null, { ...said, waits: false })
    return 'crowded'
  }
  const judged = { ...said, waits: !said.keyed && !listing?.keyed && waitsForKey(state, contact) }
  const isLate = said.mayBeLate && visitor.newest !== null && latestStart(said.since) < visitor.newest.identifiedAt
  if (lacksRoom(state, contact, listing, judged.waits)) {
    if (visitor.current !== null && !isLate) reassignVisitor(deciding, visitor, null, { ...said, waits: false })
    return 'full'
  }
  const waitsForThem = isOf(state, visitor.newest?.waitsFor, contact)
  if (!judged.waits && visitor.waits && (waitsForThem || (said.keyed && !isLate)))
    confirmLinks(deciding, visitor, contact, said)
  if (isLate) insertLate(deciding, visitor, contact, judged)
  else if (!isOf(state, visitor.current, contact) && !(judged.waits && waitsForThem))
    reassignVisitor(deciding, visitor, contact, judged)
  return listVisitor(deciding, visitor, contact, judged)
}

/** An event that names a browser links one that nobody has, and never moves one. What waits of it is the contact's. */
export function linkByEvent(deciding: Deciding, contact: ContactState, said: Identification): Link | null {
  const { state } = deciding
  const visitor = visitorOf(state, contact.businessId, said.visitorId)
  if (visitor.current === null || isOf(state, visitor.current, contact)) return linkVisitor(deciding, contact, said)
  if (!visitor.waits || !said.keyed || visitor.crowded) return null
  if (lacksRoom(state, contact, listingOf(state, visitor, contact), false)) return 'full'
  confirmLinks(deciding, visitor, contact, said)
  return listVisitor(deciding, visitor, contact, { ...said, waits: false })
}

/** Browsers send ages, and these vary with the network: an event right after an identification may seem older than it. */
const CLOCK_SKEW_MS = 5000

/** Until when an identification may have begun that counts for what happened at `at`, in epoch ms. */
export const latestStart = (at: number): number => at + CLOCK_SKEW_MS

/** The visitor's contact at a time; undefined while it was never identified. */
export function holderAt({ links }: VisitorState, at: number): VisitorLink | undefined {
  return links.findLast(({ fromAt }) => fromAt <= latestStart(at))
}

/** Whether what happened at an instant, in the time of a link, is past: another link follows, or nobody was identified yet. */
export const isPastIn = ({ newest }: VisitorState, link: VisitorLink, at: number): boolean =>
  link !== newest || latestStart(at) < link.identifiedAt

const isOf = (state: State, contactId: string | null | undefined, contact: ContactState): boolean =>
  Boolean(contactId) && survivorOf(state, contactId ?? '') === contact.id

/** To the contact, or, without one, to nobody. */
function reassignVisitor(
  deciding: Deciding,
  visitor: VisitorState,
  contact: ContactState | null,
  { at, since, waits }: Judged,
): void {
  const change = changeOf(deciding, visitor, at)
  const holder = waits ? null : contact
  // What waits for a keyed call is not the next one's.
  if (holder && visitor.current === null && !visitor.waits) joinHistory(deciding, holder, visitor, change, at)
  const fromAt = startOfNext(visitor, since)
  addLink(deciding, visitor, linkOf(contact, { fromAt, identifiedAt: Math.max(fromAt, since), waits }), change)
}

const linkOf = (
  contact: ContactState | null,
  { fromAt, identifiedAt, waits }: { fromAt: number; identifiedAt: number; waits: boolean },
): VisitorLink => {
  const contactId = contact?.id ?? null
  return { fromAt, identifiedAt, contactId: waits ? null : contactId, waitsFor: waits ? contactId : null }
}

/** What came before anybody was known is the first one's; what came since an erasure, the next one's. */
function startOfNext({ newest, erasedUntil }: VisitorState, since: number): number {
  if (newest === null) return 0
  const isUnowned = newest.contactId === null && newest.waitsFor === null
  // A clock that was set back moves nothing.
  return Math.max(isUnowned ? (erasedUntil ?? since) : since, newest.fromAt + 1, newest.identifiedAt)
}

/**
 * What was said before others were identified, and is reported after: the time until the next of them is the contact's, and
 * the browser stays theirs. What is recorded stays where it is.
 */
function insertLate(
  deciding: Deciding,
  visitor: VisitorState,
  contact: ContactState,
  { at, since, waits }: Judged,
): void {
  const { state } = deciding
  const held = visitor.links.findLast(({ fromAt }) => fromAt <= since)
  if (held && (held.fromAt === since || isOf(state, held.contactId ?? held.waitsFor, contact))) return
  const change = changeOf(deciding, visitor, at)
  // The one who has that time was identified after it: from then on it is theirs again.
  if (held && held.identifiedAt > since)
    addLink(deciding, visitor, { ...held, fromAt: held.identifiedAt }, change, true)
  addLink(deciding, visitor, linkOf(contact, { fromAt: since, identifiedAt: since, waits }), change, true)
}

/** The listing of the contact, those of contacts that were merged with it in this batch included. */
function listingOf(state: State, visitor: VisitorState, contact: ContactState): Listing | undefined {
  const theirs = [...visitor.listedBy].filter(([id]) => survivorOf(state, id) === contact.id)
  if (theirs.length <= 1) return theirs[0]?.[1]
  for (const [id] of theirs) visitor.listedBy.delete(id)
  const listings = theirs.map(([, listing]) => listing)
  const united = { keyed: listings.some(({ keyed }) => keyed), waits: listings.every(({ waits }) => waits) }
  visitor.listedBy.set(contact.id, united)
  return united
}

const countListings = (state: State, { listedBy }: VisitorState): number =>
  new Set([...listedBy.keys()].map((id) => survivorOf(state, id))).size

/** Whether the contact has as many browsers as it may; those that wait have a limit of their own. */
function lacksRoom(state: State, contact: ContactState, listing: Listing | undefined, waits: boolean): boolean {
  if (listing && (waits || !listing.waits)) return false
  const { listed, waiting } = countBrowsers(state, contact)
  return (waits ? waiting : listed) >= MAX_BROWSERS
}

function countBrowsers(state: State, contact: ContactState): BrowserCount {
  if (contact.browsers === null) throw new UnreadError(state, contact)
  return contact.browsers
}

function listVisitor(
  { state, changes }: Deciding,
  visitor: VisitorState,
  contact: ContactState,
  { keyed, waits, at }: Judged,
): Link {
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
