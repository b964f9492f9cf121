/**
 * People who subscribe to mails and are sent a series of them. Most opt out before it or between its mails, and some of
 * them opt in again. Nobody is merged.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SERIES_TRIGGER } from './create-messages.ts'
import type { Business } from './create-businesses.ts'
import type { Attempt, Choice, Fact, Ledger, Sending } from './ledger.ts'
import type { Chance } from './seeded.ts'
import { type Traffic, type TrafficOptions, bearer, deliver, record, repeat } from './traffic.ts'

const SENDERS = 2
/** The second mail follows the first one after a second. */
const BETWEEN_MS = 700
/** Before a visit is sent again, so that one that is refused does not fill the log. */
const AGAIN_MS = 100

/** True: opts in. False: opts out. */
interface Story {
  beforeSeries: boolean[]
  between: boolean[]
}

const OPTS_OUT: Story = { beforeSeries: [true], between: [false] }
const STORIES: Story[] = [
  OPTS_OUT,
  OPTS_OUT,
  { beforeSeries: [true], between: [] },
  { beforeSeries: [true, false], between: [] },
  { beforeSeries: [true, false, true], between: [] },
  { beforeSeries: [true], between: [false, true] },
  { beforeSeries: [true], between: [false, true, false] },
]

interface Subscribers {
  url: string
  business: Business
  ledger: Ledger
  chance: Chance
  /** Distinguishes their emails from all others. */
  name: string
  stopping: AbortSignal
}

export function startSubscribers({ url, businesses, ledger, chance }: TrafficOptions): Traffic {
  const stopping = new AbortController()
  const senders = businesses.flatMap((business, at) =>
    Array.from({ length: SENDERS }, (_, sender) => {
      const name = `${at}-${sender}-${chance.below(1e6)}`
      return run({ url, business, ledger, chance: chance.fork(), name, stopping: stopping.signal })
    }),
  )
  return {
    async stop() {
      stopping.abort()
      await Promise.all(senders)
    },
  }
}

async function run(subscribers: Subscribers): Promise<void> {
  const { chance, name, stopping } = subscribers
  for (let person = 0; !stopping.aborted; person += 1)
    await live(subscribers, `${name}-${person}@mails.example`, person === 0 ? OPTS_OUT : chance.pick(STORIES))
}

/** A story that has begun goes on when the traffic stops. */
async function live(subscribers: Subscribers, email: string, { beforeSeries, between }: Story): Promise<void> {
  const { url, chance, stopping } = subscribers
  const contactId = await introduce(subscribers, email)
  if (contactId === undefined) return
  for (const subscribed of beforeSeries) await choose(subscribers, { contactId, email, subscribed })
  await deliver(url, track(subscribers, SERIES_TRIGGER, email), stopping)
  await sleep(chance.below(BETWEEN_MS))
  for (const subscribed of between) await choose(subscribers, { contactId, email, subscribed })
}

/** Undefined: the contact is not known in time. */
async function introduce(subscribers: Subscribers, email: string): Promise<string | undefined> {
  const { url, stopping } = subscribers
  const sending = track(subscribers, 'visit', email)
  // A 202 does not name the contact.
  while (sending.attempts.every(({ outcome }) => outcome !== 'answered')) {
    await deliver(url, sending, stopping)
    if (stopping.aborted) break
    await sleep(AGAIN_MS)
  }
  return sending.attempts.find(({ outcome }) => outcome === 'answered')?.data.contactId
}

function track({ business, ledger }: Subscribers, event: string, email: string): Sending {
  const mark = crypto.randomUUID()
  const occurredAt = Date.now()
  const identity = [`email:${email}`]
  const body = { event, identity: { email }, occurredAt, properties: { mark }, idempotencyKey: mark }
  const { businessId } = business
  const money = { cents: 0, currency: undefined, order: false }
  const fact: Fact = { mark, businessId, event, identity, occurredAt, ...money, key: mark, valid: true }
  return ledger.open({ business, kind: 'track', body, facts: [fact], mark, identity, known: 0 })
}

/** Repeats the choice until it is known to be recorded. Some opt-outs are sent as past choices. */
async function choose(
  { url, business, ledger, chance, stopping }: Subscribers,
  chosen: Pick<Choice, 'contactId' | 'email' | 'subscribed'>,
): Promise<void> {
  const inBatch = !chosen.subscribed && chance.is(0.3)
  const choice = ledger.choose({ ...chosen, business, madeAt: Date.now(), inBatch })
  const make = () => (inBatch ? attemptInBatch(url, choice) : attemptOne(url, choice))
  await repeat(make, ({ outcome }) => outcome === 'answered', stopping)
}

const METHOD = 'faults'

const attemptOne = (url: string, { business, contactId, subscribed, attempts }: Choice): Promise<Attempt> =>
  record(attempts, {
    method: 'PUT',
    url: `${url}/api/contacts/${contactId}/subscriptions`,
    headers: bearer(business),
    body: { email: subscribed, method: METHOD },
  })

async function attemptInBatch(
  url: string,
  { business, email, subscribed, madeAt, attempts }: Choice,
): Promise<Attempt> {
  const made = await record(attempts, {
    method: 'POST',
    url: `${url}/api/subscriptions/batch`,
    headers: bearer(business),
    body: { subscriptions: [{ identity: { email }, email: subscribed, method: METHOD, at: madeAt }] },
  })
  const { recorded, queued } = made.data
  if (made.outcome !== 'answered' || recorded === 1) return made
  return Object.assign(made, { outcome: queued === 1 ? 'queued' : 'refused' })
}
