/**
 * Records many past choices. Each goes through the live partition of the business, like a choice that is made now. It
 * is recorded for the contact with its identity, and never replaces a later choice.
 */
import { type Semaphore, createSemaphore } from '../async/semaphore.ts'
import { type Change, recordContactAudit } from '../audit/audit.ts'
import type { Metrics } from '../metrics.ts'
import { IDENTITY_KINDS, type Identity, type Subscriptions } from '../rules/events/facts.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import type { TopicChoice } from '../rules/item.ts'
import type { Sql } from '../stores/postgres.ts'
import type { ContactAnswer, IdentifyAnswer, WorkerAnswer } from '../stream/entry.ts'
import type { NewIngestRequest, Submitter } from '../stream/publish/submit.ts'

/** `index`: index in the caller's list. `at`: epoch ms, not in the future. */
export interface PastChoice {
  index: number
  identity: Identity
  channels: Partial<Subscriptions>
  topics?: TopicChoice[]
  method: string
  at: number
}

export interface RecordedChoices {
  recorded: number
  /** Stored, but not recorded yet. */
  queued: number
  failures: { index: number; fault: Fault }[]
}

/** Requests of one call in flight at a time. */
const AT_ONCE = 50

interface Deps {
  sql: Sql
  submitter: Pick<Submitter, 'submit'>
  metrics: Pick<Metrics, 'answers'>
}

/** When the call with the choices was received, in epoch ms, and its id. */
interface Receipt {
  receivedAt: number
  requestId: string
}

/** Records the choices of a call in the audit log, too: all of them as one change. */
export async function recordConsentBatch(
  deps: Deps,
  receipt: Receipt,
  { businessId, actor }: Change,
  choices: readonly PastChoice[],
): Promise<RecordedChoices> {
  const done = await recordPastChoices(deps, receipt, businessId, choices)
  const recorded = done.recorded + done.queued
  const entry = { businessId, actor, action: 'contact.consent_batch', target: null, details: { recorded } }
  if (recorded > 0) await recordContactAudit(deps.sql, entry)
  return done
}

export async function recordPastChoices(
  deps: Deps,
  receipt: Receipt,
  businessId: string,
  choices: readonly PastChoice[],
): Promise<RecordedChoices> {
  const semaphore = createSemaphore(AT_ONCE)
  const known = await findContacts(deps.sql, businessId, choices)
  const resolved = await Promise.all(
    choices.map(async (choice) => {
      const contactId = known.get(choice.index)
      const found =
        contactId === undefined ? await identify(deps, receipt, { businessId, semaphore }, choice) : { contactId }
      return { choice, ...found }
    }),
  )
  const repeats = await findRepeats(
    deps.sql,
    businessId,
    resolved.flatMap((one) => ('contactId' in one ? [{ ...one.choice, contactId: one.contactId }] : [])),
  )
  const outcomes = await Promise.all(
    resolved.map(async (one) => {
      const { index } = one.choice
      if ('reason' in one) return { index, outcome: faultOf('', one.reason) }
      if (repeats.has(index)) return { index, outcome: null }
      return { index, outcome: await subscribe(deps, receipt, { businessId, semaphore }, one) }
    }),
  )
  const failures = outcomes.flatMap(({ index, outcome }) =>
    outcome === null || outcome === 'queued' ? [] : [{ index, fault: outcome }],
  )
  const queued = outcomes.filter(({ outcome }) => outcome === 'queued').length
  return { recorded: choices.length - queued - failures.length, queued, failures }
}

/**
 * Finds the contacts of choices whose identities are all known and belong to one contact. The worker resolves the
 * others.
 */
async function findContacts(
  sql: Sql,
  businessId: string,
  choices: readonly PastChoice[],
): Promise<ReadonlyMap<number, string>> {
  const pairs = choices.flatMap(({ index, identity }) =>
    IDENTITY_KINDS.flatMap((kind) => {
      const value = identity[kind]
      return value === undefined ? [] : [{ index, kind, value }]
    }),
  )
  const rows = await sql<{ index: number; contactId: string }[]>`
    select x.index, min(i.contact_id::text) as "contactId"
    from json_to_recordset(${JSON.stringify(pairs)}::text::json) as x (index integer, kind text, value text)
    left join identities i on i.business_id = ${businessId} and i.kind = x.kind collate "C" and i.value = x.value collate "C"
      and i.proven
    group by x.index
    having count(i.contact_id) = count(*) and count(distinct i.contact_id) = 1`
  return new Map(rows.map(({ index, contactId }) => [index, contactId]))
}

type Reason = 'item_again' | 'item_erased' | 'item_inactive' | 'item_kept'

interface Submitting {
  businessId: string
  semaphore: Semaphore
}

async function identify(
  deps: Deps,
  { receivedAt, requestId }: Receipt,
  { businessId, semaphore }: Submitting,
  { identity, method }: PastChoice,
): Promise<{ contactId: string } | { reason: Reason }> {
  const fact = { identity, profile: {}, traits: {}, method, visitorId: null, warnings: [] }
  const request = { kind: 'identify', businessId, receivedAt, requestId, keyed: true, fact } as const
  const answer = await submit(deps, semaphore, request)
  if (typeof answer === 'string') return { reason: answer === 'queued' ? 'item_again' : answer }
  return { contactId: (answer as IdentifyAnswer).contactId }
}

/** Returns null when the choice was recorded. */
async function subscribe(
  deps: Deps,
  { receivedAt, requestId }: Receipt,
  { businessId, semaphore }: Submitting,
  { choice: { channels, topics, method, at }, contactId }: { choice: PastChoice; contactId: string },
): Promise<Fault | 'queued' | null> {
  const chosen = { channels, ...(topics && { topics }), method, at }
  const request = { kind: 'subscribe', businessId, receivedAt, requestId, contactId, ...chosen } as const
  const answer = await submit(deps, semaphore, request)
  if (typeof answer === 'string') return answer === 'queued' ? answer : faultOf('', answer)
  const { contactId: found, issues: [fault] = [] } = answer as ContactAnswer
  return fault ?? (found === null ? faultOf('', 'item_erased') : null)
}

/** Returns the answer of the worker, an error in words, or `queued`. */
async function submit(
  { submitter, metrics }: Deps,
  semaphore: Semaphore,
  request: NewIngestRequest,
): Promise<Exclude<WorkerAnswer, { failed: true }> | Reason | 'queued'> {
  const submitted = await semaphore.run(() => submitter.submit(request))
  metrics.answers.inc({ kind: request.kind, outcome: submitted.kind })
  if (submitted.kind === 'queued') return 'queued'
  if (submitted.kind !== 'answered') return 'item_again'
  const { answer } = submitted
  if (!('failed' in answer)) return answer
  return answer.inactive ? 'item_inactive' : 'item_kept'
}

/** Finds choices that were recorded before. They change nothing, even where a merge has led to another choice since. */
async function findRepeats(
  sql: Sql,
  businessId: string,
  choices: readonly (PastChoice & { contactId: string })[],
): Promise<ReadonlySet<number>> {
  const pairs = choices.flatMap(({ index, contactId, channels, topics = [], method, at }) => {
    const ofChannels = Object.entries(channels).map(([channel, subscribed]) => ({ topic: null, channel, subscribed }))
    return [...ofChannels, ...topics].map((one) => ({ index, contact_id: contactId, ...one, method, at }))
  })
  const rows = await sql<{ index: number }[]>`
    select x.index
    from json_to_recordset(${JSON.stringify(pairs)}::text::json) as x (index integer, contact_id uuid, topic text, channel text,
      subscribed boolean, method text, at bigint)
    group by x.index
    having bool_and(case when x.topic is null then exists (
      select from consent_history h
      where h.business_id = ${businessId} and h.contact_id = x.contact_id and h.channel = x.channel
        and h.subscribed = x.subscribed and h.method = x.method and h.recorded_at = x.at
    ) else exists (
      select from topic_history h
      where h.business_id = ${businessId} and h.contact_id = x.contact_id and h.topic = x.topic collate "C"
        and h.channel = x.channel and h.subscribed = x.subscribed and h.method = x.method and h.recorded_at = x.at
    ) end)`
  return new Set(rows.map(({ index }) => index))
}
