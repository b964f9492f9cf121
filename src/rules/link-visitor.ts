/** Whose a browser is (decisions, "Callers without a secret key"), and what it brings along. */
import { type Deciding, type VisitorChange, deltaOf } from './changes.ts'
import { meaningOfName } from './interpret.ts'
import { addStatistic, countEvents } from './record-event.ts'
import { type ContactState, type State, type VisitorState, scopedKey, survivorOf } from './state.ts'

/** Contacts that one visitor id may be of. One that very many send is a constant, or the device of a public place. */
export const MOST_CONTACTS = 1000

/** `new`: the contact lists the browser from now on, and did not before. `crowded`: it links nobody any more. */
export type Link = 'new' | 'known' | 'crowded'

/**
 * The contact was identified in this browser: what follows is theirs, what came before stays with whom it was with. One
 * contact too many, and it is nobody's from then on. `at`: when it was heard, `since`: when it was said, in epoch ms.
 */
export function linkVisitor(
  deciding: Deciding,
  contact: ContactState,
  visitorId: string,
  at: number,
  since = at,
): Link {
  const { state, changes } = deciding
  const { businessId } = contact
  const visitor = visitorOf(state, businessId, visitorId)
  if (visitor.crowded) return 'crowded'
  if (visitor.current !== null && survivorOf(state, visitor.current) === contact.id) return 'known'
  const listedBy = new Set([...visitor.listedBy].map((id) => survivorOf(state, id)))
  const isListed = listedBy.has(contact.id)
  visitor.crowded = !isListed && listedBy.size >= MOST_CONTACTS
  passVisitor(deciding, visitor, visitor.crowded ? null : contact, { businessId, visitorId, at, since })
  if (visitor.crowded) return 'crowded'
  if (isListed) return 'known'
  visitor.listedBy.add(contact.id)
  changes.listedVisitors.push({ businessId, visitorId, contactId: contact.id, linkedAt: at })
  return 'new'
}

/** An event that names a browser links one that nobody has, and never moves one. */
export function linkIfNobodys(deciding: Deciding, contact: ContactState, visitorId: string, at: number): void {
  const isNobodys = visitorOf(deciding.state, contact.businessId, visitorId).current === null
  if (isNobodys) linkVisitor(deciding, contact, visitorId, at)
}

/** A browser tells ages, and they tremble with the network: what it says right after an identification may seem older. */
const TREMBLE_MS = 5000

/** Until when an identification may have begun that counts for what happened at `at`, in epoch ms. */
export const latestStart = (at: number): number => at + TREMBLE_MS

/** Whose a browser was at an instant; undefined while it never was anybody's. */
export function holderAt({ links }: VisitorState, at: number): VisitorState['links'][number] | undefined {
  return links.findLast(({ fromAt }) => fromAt <= latestStart(at))
}

export function visitorOf(state: State, businessId: string, visitorId: string): VisitorState {
  const key = scopedKey(businessId, visitorId)
  const visitor = state.visitors.get(key) ?? {
    current: null,
    crowded: false,
    lastFrom: null,
    erasedUntil: null,
    links: [],
    listedBy: new Set<string>(),
    erasedAt: new Set<number>(),
    history: new Map(),
  }
  state.visitors.set(key, visitor)
  return visitor
}

interface Said {
  businessId: string
  visitorId: string
  at: number
  since: number
}

/** To the contact, or, without one, to nobody. */
function passVisitor(
  deciding: Deciding,
  visitor: VisitorState,
  contact: ContactState | null,
  { businessId, visitorId, at, since }: Said,
): void {
  const contactId = contact?.id ?? null
  const change = changeOf(deciding, visitor, { businessId, visitorId, contactId, linkedAt: at })
  if (contact && visitor.current === null) joinHistory(deciding, contact, visitor, change)
  const fromAt = startOfNext(visitor, since)
  visitor.lastFrom = fromAt
  visitor.links.push({ fromAt, contactId })
  change.currentContactId = visitor.current = contactId
  change.crowded = visitor.crowded
  deciding.changes.visitorLinks.push({ businessId, visitorId, fromAt, contactId })
}

/** What came before anybody was known is the first one's; what came since an erasure, the next one's. */
function startOfNext({ current, lastFrom, erasedUntil }: VisitorState, since: number): number {
  if (lastFrom === null) return 0
  // A clock that was set back moves nothing.
  return Math.max(current === null ? (erasedUntil ?? since) : since, lastFrom + 1)
}

function changeOf(
  { changes }: Deciding,
  visitor: VisitorState,
  taken: Pick<VisitorChange, 'businessId' | 'visitorId' | 'contactId' | 'linkedAt'>,
): VisitorChange {
  const key = scopedKey(taken.businessId, taken.visitorId)
  const change = changes.visitors.get(key) ?? {
    ...taken,
    assumedContactId: visitor.current,
    currentContactId: taken.contactId,
    crowded: false,
    joinedContactId: null,
    joinedCount: 0,
  }
  changes.visitors.set(key, change)
  return change
}

/**
 * What the browser did while it was nobody's is the contact's now, with its own times: it counts, moves the stage and
 * reaches goals as facts of the past do, and starts no campaign. Postgres moves the events that it keeps.
 */
function joinHistory(deciding: Deciding, contact: ContactState, visitor: VisitorState, change: VisitorChange): void {
  const { changes } = deciding
  const kept = [...visitor.history.values()].reduce((sum, { count }) => sum + count, 0)
  if (kept > 0) Object.assign(change, { joinedContactId: contact.id, joinedCount: kept })
  const key = scopedKey(change.businessId, change.visitorId)
  const fresh = changes.visitorEvents.get(key) ?? []
  changes.visitorEvents.delete(key)
  for (const { fact } of fresh) {
    const at = fact.occurredAt
    addStatistic(visitor.history, fact.event, { firstAt: at, lastAt: at, count: 1 })
  }
  for (const [event, counted] of visitor.history) {
    countEvents(deciding, contact, event, counted, change.linkedAt)
    if (meaningOfName(event).order) deltaOf(changes, contact.id).orders += counted.count
  }
  visitor.history.clear()
  changes.events.push(...fresh.map((event) => ({ ...event, contactId: contact.id })))
}
