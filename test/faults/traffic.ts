/**
 * A client under way: live events, batches and identifies of several businesses, in lanes side by side. What is refused
 * is sent again; what is unknown is sent again when that is safe (with its key, or an identify); the ledger keeps it all.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Attempt,
  type AnswerData,
  type Fact,
  type Ledger,
  type Outcome,
  type Sending,
  isAcknowledged,
} from './ledger.ts'
import type { Chance } from './seeded.ts'
import type { Business } from './world.ts'

export interface Traffic {
  /** No new requests; resolves when each open one is acknowledged, or given up. */
  stop(): Promise<void>
}

export interface TrafficOptions {
  url: string
  businesses: Business[]
  ledger: Ledger
  chance: Chance
  /** The longest pause of a lane between two requests, in ms. */
  pauseMs?: number
}

const LIVE_LANES = 2
const AGAIN_MS = 100
const GIVE_UP_MS = 30_000
const CLIENT_TIMEOUT_MS = 10_000
const PEOPLE_AT_ONCE = 25

export function startTraffic({ url, businesses, ledger, chance, pauseMs = 30 }: TrafficOptions): Traffic {
  const stopping = new AbortController()
  const run = async (lane: Lane, next: () => Sending): Promise<void> => {
    while (!stopping.signal.aborted) {
      await deliver(url, next(), stopping.signal)
      await sleep(lane.chance.between(1, pauseMs))
    }
  }
  const lanes = businesses.flatMap((business, at) => {
    const people: People = { name: `${at}-${chance.below(1e6)}`, count: 0 }
    const lane = (): Lane => ({ business, ledger, chance: chance.fork(), people })
    const live = Array.from({ length: LIVE_LANES }, lane).map((one) => run(one, () => makeLive(one)))
    const past = lane()
    return [...live, run(past, () => makeBatch(past))]
  })
  return {
    async stop() {
      stopping.abort()
      await Promise.all(lanes)
    },
  }
}

/** Sends until it is acknowledged or must not be sent again. */
export async function deliver(url: string, sending: Sending, stopping?: AbortSignal): Promise<void> {
  let stoppedAt = Infinity
  for (;;) {
    const { outcome } = await attempt(url, sending)
    if (outcome === 'answered' || outcome === 'queued' || outcome === 'rejected') return
    if (outcome === 'unknown' && !isRepeatable(sending)) return
    if (stopping?.aborted) stoppedAt = Math.min(stoppedAt, Date.now())
    if (Date.now() - stoppedAt > GIVE_UP_MS) return
    await sleep(AGAIN_MS)
  }
}

const isRepeatable = ({ facts }: Sending): boolean => facts.every(({ key, valid }) => key !== undefined || !valid)

/** After a Redis that forgot: everything that nobody has acknowledged, once more. */
export async function deliverAgain(url: string, ledger: Ledger): Promise<void> {
  const open = ledger.sendings.filter((sending) => !isAcknowledged(sending) && isRepeatable(sending))
  for (const sending of open) await deliver(url, sending, AbortSignal.abort())
}

export async function attempt(url: string, sending: Sending): Promise<Attempt> {
  const sentAt = Date.now()
  const made = { sentAt, endedAt: Infinity, outcome: 'unknown' as Outcome, told: 'under way', data: {} }
  sending.attempts.push(made)
  return Object.assign(made, await send(url, sending), { endedAt: Date.now() })
}

async function send(
  url: string,
  { business, kind, body }: Sending,
): Promise<{ outcome: Outcome; told: string; data: AnswerData }> {
  const path = { track: 'track', batch: 'track/batch', identify: 'identify' }[kind]
  try {
    const response = await fetch(`${url}/api/sdk/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${business.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CLIENT_TIMEOUT_MS),
      // A kept connection that breaks makes some clients send again by themselves, which no ledger would know.
      keepalive: false,
    })
    const { data, error } = (await response.json()) as { data?: AnswerData; error?: { code: string } }
    const code = error?.code ?? ''
    return { outcome: outcomeOf(response.status, code), told: `${response.status} ${code}`.trim(), data: data ?? {} }
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException
    return { outcome: 'unknown', told: code ?? name, data: {} }
  }
}

function outcomeOf(status: number, code: string): Outcome {
  if (status === 200) return 'answered'
  if (status === 202) return 'queued'
  if (status === 503) return code === 'unavailable' ? 'refused' : 'unknown'
  return 'rejected'
}

interface People {
  name: string
  /** How many there are so far. */
  count: number
}

interface Lane {
  business: Business
  ledger: Ledger
  chance: Chance
  people: People
}

/** One of three who are known, one in four new. Their fields come apart and together, so that contacts have to merge. */
function pickIdentity({ chance, people }: Lane): { sent: Record<string, string>; identity: string[] } {
  const isNew = people.count === 0 || chance.is(0.25)
  const person = isNew ? people.count++ : Math.max(0, people.count - 1 - chance.below(PEOPLE_AT_ONCE))
  const name = `${people.name}-${person}`
  const fields: [kind: string, sent: string, kept: string][] = [
    ['email', `${name}@One.example `, `${name}@one.example`],
    ['email', `${name}@two.example`, `${name}@two.example`],
    ['phone', `+1 (212) ${2_000_000 + person}`, `1212${2_000_000 + person}`],
    ['platformCustomerId', `c-${name}`, `c-${name}`],
  ]
  const first = chance.pick(fields)
  const second = chance.is(0.4) ? chance.pick(fields) : first
  // One of a kind at most: with two emails the first.
  const chosen = first[0] === second[0] ? [first] : [first, second]
  return {
    sent: Object.fromEntries(chosen.map(([kind, sent]) => [kind, sent])),
    identity: chosen.map(([kind, , kept]) => `${kind}:${kept}`),
  }
}

function makeLive(lane: Lane): Sending {
  const { business, ledger, chance } = lane
  const earlier = chance.is(0.12) ? pickEarlier(lane) : undefined
  if (earlier) return earlier
  const mark = crypto.randomUUID()
  const { sent, identity } = pickIdentity(lane)
  if (chance.is(0.15))
    return ledger.open({
      business,
      kind: 'identify',
      body: { identity: sent, method: mark },
      facts: [],
      mark,
      identity,
      known: 0,
    })
  const { body, fact } = makeEvent(lane)
  return ledger.open({
    business,
    kind: 'track',
    body,
    facts: [fact],
    mark: fact.mark,
    identity: fact.identity,
    known: 0,
  })
}

/** An event sent before, acknowledged or not: its repeat must change nothing. */
function pickEarlier({ business, ledger, chance }: Lane): Sending | undefined {
  const earlier = ledger.sendings.filter(
    (sending) => sending.business === business && sending.kind === 'track' && isRepeatable(sending),
  )
  return earlier.length > 0 ? chance.pick(earlier) : undefined
}

function makeBatch(lane: Lane): Sending {
  const { business, ledger, chance } = lane
  // As a whole with keys or without: only the former can be sent again.
  const keyed = chance.is(0.85)
  const events = Array.from({ length: chance.between(1, 25) }, () => makeEvent(lane, keyed))
  const repeated = chance.is(0.3) ? pickEarlier(lane) : undefined
  const facts = events.map(({ fact }) => fact)
  const items: object[] = events.map(({ body }) => body)
  if (repeated) {
    items.push(repeated.body)
    facts.push(...repeated.facts)
  }
  if (chance.is(0.1)) {
    const { body, fact } = makeEvent(lane, keyed)
    items.push({ ...body, occurredAt: Date.now() + 3_600_000 })
    facts.push({ ...fact, valid: false })
  }
  const known = repeated?.attempts.some(({ outcome }) => outcome === 'answered') ? 1 : 0
  return ledger.open({ business, kind: 'batch', body: { events: items }, facts, mark: '', identity: [], known })
}

/** What an event says about money, by the contract. */
const MEANINGS = [
  { event: 'purchase', type: undefined, sign: 1, order: true },
  { event: 'course_bought', type: 'purchase', sign: 1, order: true },
  { event: 'money_back', type: 'refund', sign: -1, order: false },
  { event: 'lesson_done', type: undefined, sign: 0, order: false },
  { event: 'add_to_cart', type: undefined, sign: 0, order: false },
] as const

function makeEvent(lane: Lane, keyed = lane.chance.is(0.85), who = pickIdentity(lane)): { body: object; fact: Fact } {
  const { business, chance } = lane
  const mark = crypto.randomUUID()
  const { event, type, sign, order } = chance.pick(MEANINGS)
  const cents = sign * chance.between(1, 100_000)
  const currency = sign === 0 ? undefined : chance.pick(['USD', 'EUR', 'ILS'])
  const key = keyed ? `key-${mark}` : undefined
  const occurredAt = Date.now() - chance.below(100_000_000_000)
  const body = {
    event,
    identity: who.sent,
    occurredAt,
    properties: { mark },
    ...(type && { type }),
    ...(sign !== 0 && { value: Math.abs(cents) / 100, currency }),
    ...(key && { idempotencyKey: key }),
  }
  const { businessId } = business
  const fact = { mark, businessId, event, identity: who.identity, occurredAt, cents, currency, order, key, valid: true }
  return { body, fact }
}
