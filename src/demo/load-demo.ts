/** Fills an empty business with the demo people, through the streams and the workers, like requests of callers. */
import { randomUUID } from 'node:crypto'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { saveSpend } from '../analytics/spend.ts'
import { sleep } from '../async/sleep.ts'
import type { NewIngestRequest, Submit } from '../stream/publish/submit.ts'
import type { Sql } from '../stores/postgres.ts'
import { DEMO_PREFIX, type DemoPerson, composeDemo, composeTrials } from './compose-demo.ts'
import { composeSpend } from './compose-spend.ts'
import { type MarketingDeps, createDemoMarketing } from './demo-marketing.ts'

export const DEMO_CONTACTS = { default: 300, max: 5000 }
/** Events per request: as many as a caller may send in one batch. */
const BATCH_EVENTS = 500
const AT_ONCE = 20
const MAX_ATTEMPTS = 60

interface DemoCounts {
  contacts: number
  events: number
}
/** What the demo has, and what of it the business lacked. Events whose answer was late count as added. */
export interface DemoLoad extends DemoCounts {
  added: DemoCounts
}

interface LoadOptions {
  businessId: string
  actor: Actor
  count: number
  /** Epoch milliseconds. */
  now: number
  /** Called with the completed share, from 0 to 1. */
  report?: (share: number) => void
  signal?: AbortSignal
}

/**
 * Loads the demo. Rejects when a request is refused, when its outcome is unknown, or when `signal` aborts. Data stored
 * until then remains, and another load does not store it twice.
 */
export async function loadDemo(deps: MarketingDeps & { submit: Submit }, options: LoadOptions): Promise<DemoLoad> {
  const { sql, submit } = deps
  const { businessId, actor, count, now, report = () => undefined, signal } = options
  const people = composeDemo({ count, now })
  const events = people.flatMap((person) => person.events).toSorted((a, b) => a.occurredAt - b.occurredAt)
  const known = await findKnown(sql, businessId)
  const added = { contacts: people.filter((person) => !known.has(idOf(person))).length, events: 0 }
  const common = (receivedAt = now) => ({ businessId, receivedAt, requestId: randomUUID() })
  const send = (request: NewIngestRequest) => submitUntilStored(submit, request, signal)
  const chunks = cut(events, BATCH_EVENTS)
  const trials = composeTrials(people, now)
  const steps = people.length * 2 + chunks.length + trials.length
  let done = 0
  const step = () => report((done += 1) / steps)
  // Before the first person is added, so that the entry is there even if a crash interrupts the load.
  let isRecorded = false
  const recordLoad = async () => {
    if (isRecorded || added.contacts + added.events === 0) return
    isRecorded = true
    const details = { contacts: added.contacts }
    await recordAudit(sql, { businessId, actor, action: 'demo.load', target: businessId, details })
  }
  await recordLoad()
  // Visits come first: the identify call then assigns them to the person.
  await inTurns(people, async ({ visit: { visitorId, hits, touch } }) => {
    if (hits.length > 0)
      await send({ ...common(), kind: 'capture', visitorId, hits, touches: { first: touch, latest: touch } })
    step()
  })
  await inTurns(people, async (person) => {
    await introduce(person)
    step()
  })
  for (const chunk of chunks) {
    const answer = await send({ ...common(), kind: 'batch', items: chunk.map((fact, index) => ({ index, fact })) })
    const repeated = answer !== null && 'items' in answer ? answer.items.filter(isRepeated).length : 0
    added.events += chunk.length - repeated
    await recordLoad()
    step()
  }
  signal?.throwIfAborted()
  await saveSpend(sql, { businessId, actor }, composeSpend({ count, now }))
  await createDemoMarketing(deps, { businessId, actor })
  // Sent live, so that the demo campaign enrols these people.
  await inTurns(trials, async (fact) => {
    const answer = await send({ ...common(), kind: 'track', keyed: true, source: 'live', fact })
    if (answer === null || !isRepeated(answer)) added.events += 1
    step()
  })
  await recordLoad()
  return { contacts: people.length, events: events.length + trials.length, added }

  async function introduce(person: DemoPerson): Promise<void> {
    const { identify, wantsEmail } = person
    // As if the call had come when the person signed up: a contact dates from the call that creates it. A contact that
    // is there already has later facts, so the call comes now and says how old it is.
    const ageMs = identify.ageMs ?? 0
    const earlier = known.has(idOf(person)) ? 0 : ageMs
    const fact = { ...identify, ageMs: ageMs - earlier }
    const answer = await send({ ...common(now - earlier), kind: 'identify', keyed: true, fact })
    const contactId = answer !== null && 'contactId' in answer ? answer.contactId : null
    if (wantsEmail === null || contactId === null) return
    await send({ ...common(), kind: 'subscribe', contactId, channels: { email: wantsEmail }, method: 'demo' })
  }
}

const idOf = ({ identify }: DemoPerson): string => identify.identity.platformCustomerId ?? ''

/** Returns the customer ids of the demo people that the business has. */
async function findKnown(sql: Sql, businessId: string): Promise<Set<string>> {
  const rows = await sql<{ value: string }[]>`
    select value from identities
    where business_id = ${businessId} and kind = 'platformCustomerId' and starts_with(value, ${DEMO_PREFIX})`
  return new Set(rows.map(({ value }) => value))
}

const isRepeated = (answer: object): boolean => 'deduped' in answer && answer.deduped === true

/** Returns the worker's answer; null when the request was stored, but not applied in time. */
async function submitUntilStored(submit: Submit, request: NewIngestRequest, signal: AbortSignal | undefined) {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted()
    const submitted = await submit(request, { wait: request.kind !== 'capture' })
    if (submitted.kind === 'answered') {
      if ('failed' in submitted.answer) throw new Error('a worker could not apply the demo data')
      return submitted.answer
    }
    if (submitted.kind === 'queued') return null
    if (attempt === MAX_ATTEMPTS) throw new Error('the streams take no more requests')
    // Resending after an unknown outcome duplicates nothing: events have keys, and the other requests have the same
    // effect.
    await sleep(submitted.kind === 'unavailable' ? submitted.retryAfter * 1000 : 1000)
  }
}

async function inTurns<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  for (const chunk of cut(items, AT_ONCE)) await Promise.all(chunk.map(run))
}

const cut = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))
