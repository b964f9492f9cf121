/**
 * Composes the requests of callers by number: equal numbers give equal requests. All text is ASCII, so that its length
 * is its size in bytes.
 */
export type Traffic =
  /**
   * A mixture as in a shop: every fifth event has a new person, the others a known one. Eight event names; one event in
   * eight is a purchase, half have an idempotency key, a quarter have traits, an eighth have a tag. About 400 bytes.
   */
  | { kind: 'typical'; prefix: string }
  /** The same, but for about this many people who are already known, uniformly distributed. */
  | { kind: 'known'; prefix: string; people: number }
  | { kind: 'one-contact'; prefix: string }
  | { kind: 'new-contacts'; prefix: string }
  /** Six events per person, which connect an email, a phone and an id; shuffled among `people` people at a time. */
  | { kind: 'mesh'; prefix: string; people: number }
  | { kind: 'large'; prefix: string; bytes: number }
  /** A new contact for each event, with a number that is visible in every view. */
  | { kind: 'probe'; prefix: string }
  /** Past events of the typical kind, `size` per request, each with a key. */
  | { kind: 'batch'; prefix: string; size: number }

/** Returns the JSON body of the request with this number. */
export function makeBody(traffic: Traffic, n: number): string {
  switch (traffic.kind) {
    case 'typical':
      return typical(traffic.prefix, n, n % 2 === 0)
    case 'known':
      return event(traffic.prefix, n, email(traffic.prefix, scramble(n) % traffic.people), n % 2 === 0)
    case 'one-contact':
      return event(traffic.prefix, n, `{"email":"${traffic.prefix}everything@example.com"}`, n % 2 === 0)
    case 'new-contacts':
      return event(traffic.prefix, n, email(traffic.prefix, n), n % 2 === 0)
    case 'mesh':
      return mesh(traffic.prefix, n, traffic.people)
    case 'large':
      return large(traffic.prefix, n, traffic.bytes)
    case 'probe':
      return `{"event":"probe","identity":${email(traffic.prefix, n)},"value":${n + 1},"traits":{"probe":${n}}}`
    case 'batch':
      return batch(traffic.prefix, n, traffic.size)
  }
}

export const eventsIn = (traffic: Traffic | undefined): number => (traffic?.kind === 'batch' ? traffic.size : 1)

export const NAMES = [
  'purchase',
  'page_viewed',
  'signup',
  'trial_started',
  'cart_updated',
  'email_opened',
  'login',
  'searched',
]
const NEW_PERSON_EVERY = 5

function typical(prefix: string, n: number, keyed: boolean, more = ''): string {
  return event(prefix, n, email(prefix, typicalPerson(n)), keyed, more)
}

/** Returns the number of the person in the typical event `n`. */
export function typicalPerson(n: number): number {
  const known = Math.floor(n / NEW_PERSON_EVERY)
  return n % NEW_PERSON_EVERY === 0 ? known : scramble(n) % (known + 1)
}

const email = (prefix: string, person: number) => `{"email":"${prefix}${person}@example.com"}`

function event(prefix: string, n: number, identity: string, keyed: boolean, more = ''): string {
  const kind = kindOf(n)
  return (
    `{"event":"${NAMES[kind]}","identity":${identity},` +
    (kind === 0 ? `"value":${purchaseValue(n)},"currency":"EUR",` : '') +
    `"properties":{"page":"/catalogue/shoes/${n % 1000}","referrer":"https://www.example.com/search?q=running+shoes",` +
    `"campaign":"spring-${n % 12}","session":"s-${scramble(n)}","position":${n % 50}}` +
    (n % 4 === 1 ? `,"traits":{"plan":"pro","seats":${n % 20}}` : '') +
    (n % 8 === 3 ? ',"tags":["newsletter"]' : '') +
    (keyed ? `,"idempotencyKey":"${prefix}${n}"` : '') +
    `${more}}`
  )
}

/** Index of the event's name; 0 is the purchase. */
const kindOf = (n: number): number => scramble(n) >>> 29

export const isPurchase = (n: number): boolean => kindOf(n) === 0
export const purchaseValue = (n: number): number => 10.5 + (n % 90)

/** Start of the 90 days in which backfilled events lie. */
const PAST = Date.UTC(2025, 0, 1)
const PAST_MS = 90 * 86_400_000

function batch(prefix: string, n: number, size: number): string {
  const items = Array.from({ length: size }, (_, at) => {
    const number = n * size + at
    return typical(prefix, number, true, `,"occurredAt":${PAST + (scramble(number) % PAST_MS)}`)
  })
  return `{"events":[${items.join(',')}]}`
}

function large(prefix: string, n: number, bytes: number): string {
  // Hard to compress, and cheap to create.
  const filler = FILLER.slice(n % 1000, (n % 1000) + bytes)
  return `{"event":"page_viewed","identity":${email(prefix, typicalPerson(n))},"properties":{"document":"${filler}"}}`
}

const FILLER = Array.from({ length: 10_000 }, (_, at) => scramble(at).toString(36)).join('')

/** Each names one identity of a person, or connects two of them; together they connect all. */
const MESH: ((person: number, prefix: string) => string)[] = [
  (person, prefix) => meshEmail(person, prefix),
  (person) => meshPhone(person),
  (person, prefix) => meshId(person, prefix),
  (person, prefix) => `${meshEmail(person, prefix)},${meshPhone(person)}`,
  (person, prefix) => `${meshPhone(person)},${meshId(person, prefix)}`,
  (person, prefix) => `${meshEmail(person, prefix)},${meshId(person, prefix)}`,
]
const meshEmail = (person: number, prefix: string) => `"email":"${prefix}${person}@example.com"`
const meshPhone = (person: number) => `"phone":"+97250${String(1_000_000 + (person % 9_000_000))}"`
const meshId = (person: number, prefix: string) => `"platformCustomerId":"${prefix}${person}"`

export const MESH_EVENTS = MESH.length

/** A window of `people` people sends all of its events, in shuffled order, before the next window begins. */
function mesh(prefix: string, n: number, people: number): string {
  const window = people * MESH_EVENTS
  const first = Math.floor(n / window) * people
  const place = shuffled(n % window, window)
  const identity = MESH[place % MESH_EVENTS]?.(first + Math.floor(place / MESH_EVENTS), prefix) ?? ''
  return event(prefix, n, `{${identity}}`, false)
}

/** A permutation of 0…size-1, when `size` shares no factor with the step. */
function shuffled(at: number, size: number): number {
  return (at * SHUFFLE_STEP + 7) % size
}
const SHUFFLE_STEP = 7919

/** Returns 32 well-mixed bits of a number. */
function scramble(n: number): number {
  let mixed = Math.imul(n ^ (n >>> 16) ^ 0x9e3779b9, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
