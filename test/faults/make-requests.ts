/** Composes the requests of the client: live events, identifies with and without a key, batches, repeats. */
import type { Fact, Ledger, Sending, Traits } from './ledger.ts'
import type { Chance } from './seeded.ts'
import type { Business } from './create-businesses.ts'

/** One of the concurrent senders of a business. It sends one request after the other. */
export interface Sender {
  business: Business
  ledger: Ledger
  chance: Chance
  people: People
}

/** The people of one business, shared by all its senders. */
export interface People {
  name: string
  /**
   * Numbers of people so far: `all`, and `live`, who are never in batches, so that they are enrolled before they are
   * merged.
   */
  counts: { all: number; live: number }
  /** Epoch milliseconds, long ago. Some events share an instant, so that their traits tie. */
  since: number
}

const PEOPLE_AT_ONCE = 25

interface Identified {
  sent: Record<string, string>
  /** As stored in Postgres. */
  identity: string[]
}

/**
 * Picks one of the known people, or a new one in a quarter of the cases. Sends their identities separately and
 * together, so that contacts must be merged.
 */
function pickIdentity({ chance, people: { name, counts } }: Sender, circle: keyof People['counts']): Identified {
  const isNew = counts[circle] === 0 || chance.is(0.25)
  const person = isNew ? counts[circle]++ : Math.max(0, counts[circle] - 1 - chance.below(PEOPLE_AT_ONCE))
  return identify(chance, `${name}-${circle}-${person}`, NUMBERS[circle] + person)
}

const pickCircle = ({ chance }: Sender) => (chance.is(0.5) ? 'live' : 'all')

/** First phone number of each group of people. */
const NUMBERS = { all: 2_000_000, live: 4_000_000, strangers: 6_000_000 }

function identify(chance: Chance, name: string, number: number): Identified {
  const fields: [kind: string, sent: string, kept: string][] = [
    ['email', `${name}@One.example `, `${name}@one.example`],
    ['email', `${name}@two.example`, `${name}@two.example`],
    ['phone', `+1 (212) ${number}`, `1212${number}`],
    ['platformCustomerId', `c-${name}`, `c-${name}`],
  ]
  const first = chance.pick(fields)
  const second = chance.is(0.4) ? chance.pick(fields) : first
  // At most one per kind: of two emails, the first one.
  const chosen = first[0] === second[0] ? [first] : [first, second]
  return {
    sent: Object.fromEntries(chosen.map(([kind, sent]) => [kind, sent])),
    identity: chosen.map(([kind, , kept]) => `${kind}:${kept}`),
  }
}

export function makeLive(sender: Sender): Sending {
  const { business, ledger, chance } = sender
  const earlier = chance.is(0.12) ? pickEarlier(sender) : undefined
  if (earlier) return earlier
  if (chance.is(0.1)) return makeUnkeyedIdentify(sender)
  if (chance.is(0.15)) return makeIdentify(sender)
  const event = chance.is(0.4) ? chance.pick(TRIGGERS) : chance.pick(MEANINGS)
  const { body, fact } = makeEvent(sender, event, pickIdentity(sender, pickCircle(sender)))
  const { mark, identity } = fact
  return ledger.open({ business, kind: 'track', body, facts: [fact], mark, identity, known: 0 })
}

function makeIdentify(sender: Sender): Sending {
  const { business, ledger, chance } = sender
  const mark = crypto.randomUUID()
  const { sent, identity } = pickIdentity(sender, pickCircle(sender))
  const traits = chance.is(0.5) ? makeTraits(chance) : {}
  const firstName = chance.is(0.5) ? `F${mark}` : undefined
  const body = { identity: sent, method: mark, traits, ...(firstName && { profile: { firstName } }) }
  return ledger.open({ business, kind: 'identify', body, facts: [], mark, identity, known: 0, traits, firstName })
}

/** A call from a page, without a key, about a known person or a stranger. It sends traits, which must not count. */
function makeUnkeyedIdentify(sender: Sender): Sending {
  const { business, ledger, chance, people } = sender
  const mark = crypto.randomUUID()
  const stranger = chance.below(PEOPLE_AT_ONCE)
  const { sent, identity } = chance.is(0.7)
    ? pickIdentity(sender, pickCircle(sender))
    : identify(chance, `${people.name}-stranger-${stranger}`, NUMBERS.strangers + stranger)
  const firstName = chance.is(0.5) ? `U${mark}` : undefined
  const body = {
    businessId: business.businessId,
    identity: sent,
    method: mark,
    traits: { said_without_key: true },
    ...(firstName && { profile: { firstName } }),
  }
  return ledger.open({
    business,
    kind: 'identify',
    body,
    facts: [],
    mark,
    identity,
    known: 0,
    firstName,
    unkeyed: true,
  })
}

/** Returns an event that was sent before, acknowledged or not. Its repeat must change nothing. */
function pickEarlier({ business, ledger, chance }: Sender): Sending | undefined {
  const earlier = ledger.sendings.filter(
    (sending) => sending.business === business && sending.kind === 'track' && isRepeatable(sending),
  )
  return earlier.length > 0 ? chance.pick(earlier) : undefined
}

/** Whether it can be sent again safely: its events have keys, or are refused. */
export const isRepeatable = ({ facts }: Sending): boolean =>
  facts.every(({ key, valid }) => key !== undefined || !valid)

export function makeBatch(sender: Sender): Sending {
  const { business, ledger, chance } = sender
  // Either all events have keys or none: only with keys can the batch be sent again.
  const keyed = chance.is(0.85)
  const make = () => makeEvent(sender, chance.pick(MEANINGS), pickIdentity(sender, 'all'), keyed)
  const events = Array.from({ length: chance.between(1, 25) }, make)
  const repeated = chance.is(0.3) ? pickEarlier(sender) : undefined
  const facts = events.map(({ fact }) => fact)
  const items: object[] = events.map(({ body }) => body)
  if (repeated) {
    items.push(repeated.body)
    facts.push(...repeated.facts)
  }
  if (chance.is(0.1)) {
    const { body, fact } = make()
    items.push({ ...body, occurredAt: Date.now() + 3_600_000 })
    facts.push({ ...fact, valid: false })
  }
  const known = repeated?.attempts.some(({ outcome }) => outcome === 'answered') ? 1 : 0
  return ledger.open({ business, kind: 'batch', body: { events: items }, facts, mark: '', identity: [], known })
}

interface Meaning {
  event: string
  type?: string
  sign: -1 | 0 | 1
  order: boolean
}

/** Events that trigger a campaign. */
const TRIGGERS: Meaning[] = [
  { event: 'lesson_done', sign: 0, order: false },
  { event: 'add_to_cart', sign: 0, order: false },
]

/** The meaning of an event for revenue, from the contract. */
const MEANINGS: Meaning[] = [
  { event: 'purchase', sign: 1, order: true },
  { event: 'course_bought', type: 'purchase', sign: 1, order: true },
  { event: 'money_back', type: 'refund', sign: -1, order: false },
  ...TRIGGERS,
]

const LONGEST_AGO_MS = 100_000_000_000

function makeEvent(
  sender: Sender,
  { event, type, sign, order }: Meaning,
  { sent, identity }: Identified,
  keyed = sender.chance.is(0.85),
): { body: object; fact: Fact } {
  const { business, chance } = sender
  const mark = crypto.randomUUID()
  const cents = sign * chance.between(1, 100_000)
  const currency = sign === 0 ? undefined : chance.pick(['USD', 'EUR', 'ILS'])
  const key = keyed ? `key-${mark}` : undefined
  const occurredAt = pickInstant(sender)
  const tags = chance.is(0.25) ? [chance.pick(TAGS), chance.pick(TAGS)] : []
  const traits = chance.is(0.4) ? makeTraits(chance) : {}
  const body = {
    event,
    identity: sent,
    properties: { mark },
    ...(occurredAt !== undefined && { occurredAt }),
    ...(type && { type }),
    ...(sign !== 0 && { value: Math.abs(cents) / 100, currency }),
    ...(key && { idempotencyKey: key }),
    ...(tags.length > 0 && { tags: tags.map((tag) => ` ${tag} `) }),
    traits,
  }
  const common = { mark, businessId: business.businessId, event, identity, occurredAt, key, tags, traits, valid: true }
  return { body, fact: { ...common, cents, currency, order } }
}

/** Undefined for the time of receipt. */
function pickInstant({ chance, people }: Sender): number | undefined {
  if (chance.is(0.1)) return undefined
  if (chance.is(0.15)) return people.since + chance.below(3)
  return Date.now() - chance.below(LONGEST_AGO_MS)
}

const TAGS = Array.from({ length: 12 }, (_, at) => `tag ${at} ✓`)

/** Each key always has the same type of value, so that its field's type does not depend on the order. */
const TRAITS: Record<string, (chance: Chance) => Traits[string]> = {
  plan: (chance) => chance.pick(['free', 'pro', '', 'größer', '\u{1f600}', '\ufffd']),
  score: (chance) => chance.below(1000) / 10,
  is_vip: (chance) => chance.is(0.5),
  renewal_date: (chance) => `2027-01-${chance.between(10, 28)}`,
}

function makeTraits(chance: Chance): Traits {
  const keys = Object.keys(TRAITS).filter(() => chance.is(0.5))
  return Object.fromEntries(keys.map((key) => [key, chance.is(0.15) ? null : (TRAITS[key]?.(chance) ?? null)]))
}
