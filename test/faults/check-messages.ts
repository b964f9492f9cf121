/**
 * Compares the messages of campaigns with those that arrived: none twice, none after a goal or an opt-out, none
 * forgotten.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../../src/stores/postgres.ts'
import { attemptsOf, factsOf } from './audit/facts.ts'
import { STEPS } from './create-messages.ts'
import type { Business } from './create-businesses.ts'
import { type Choice, type Ledger, isKept } from './ledger.ts'
import type { World } from './world.ts'

const MOST_COMPLAINTS = 10
const PATIENCE_MS = 60_000
/** A step that has been due for less than this many milliseconds is not late yet. */
const LATE_MS = 1000

export interface HeldMessages {
  messages: HeldMessage[]
  enrolments: HeldEnrolment[]
  goals: AnsweredGoal[]
  choices: Pick<Choice, 'contactId' | 'subscribed' | 'attempts'>[]
}
export interface HeldMessage {
  messageId: string
  enrolmentId: string
  step: string
  state: string
  reason: string | null
  claimedAt: number
  needsOptIn: boolean
}
export interface HeldEnrolment {
  enrolmentId: string
  contactId: string
  state: string
  enrolledAt: number
  receivedAt: number
  /** Whether it waits at a step. */
  isDue: boolean
  /** Whether its contact was never part of a merge or a move of identities, so that the owner of a goal is certain. */
  isCertain: boolean
}
/** A goal that was answered with 200. */
export interface AnsweredGoal {
  contactId: string
  occurredAt: number
  sentAt: number
  answeredAt: number
}

export interface CheckedMessages {
  complaints: string[]
  notes: string[]
}

/** Checks businesses that receive no more traffic. */
export async function checkMessages({ own: { sql }, sink }: World, ledger: Ledger): Promise<CheckedMessages> {
  const businesses = [...new Set(ledger.sendings.map(({ business }) => business))]
  const campaigns = businesses.flatMap((business) => business.campaigns.filter(({ hasSteps }) => hasSteps))
  const ids = `{${campaigns.map(({ campaignId }) => campaignId).join(',')}}`
  const overdue = await untilNothingIsOverdue(sql, ids)
  if (overdue > 0) return { complaints: [`messages: ${overdue} steps are overdue after ${PATIENCE_MS} ms`], notes: [] }
  const held = {
    messages: await readMessages(sql, ids),
    enrolments: await readEnrolments(sql, ids),
    goals: await readGoals(sql, ledger, businesses),
    choices: ledger.choices,
  }
  const counts = countOptOuts(held)
  const complaints = [...compareMessages(held, sink.arrivals), ...checkCounts(counts)]
  return {
    complaints: complaints.slice(0, MOST_COMPLAINTS).map((complaint) => `messages: ${complaint}`),
    notes: [`${counts.optOuts} opt-outs before a message, ${counts.stopped} messages stopped by them`],
  }
}

/** Does no I/O. */
export function compareMessages(held: HeldMessages, arrivals: ReadonlyMap<string, number[]>): string[] {
  const { messages, enrolments, goals, choices } = held
  const byEnrolment = Map.groupBy(messages, ({ enrolmentId }) => enrolmentId)
  const goalsOf = Map.groupBy(goals, ({ contactId }) => contactId)
  const choicesOf = Map.groupBy(choices, ({ contactId }) => contactId)
  return [
    ...messages.flatMap((message) => checkArrivals(message, arrivals.get(message.messageId) ?? [])),
    ...enrolments.flatMap((enrolment) => {
      const own = byEnrolment.get(enrolment.enrolmentId) ?? []
      return [
        ...checkProgress(enrolment, own),
        ...own.flatMap((message) => {
          const arrived = arrivals.get(message.messageId) ?? []
          return [
            ...checkGoals(message, enrolment, goalsOf.get(enrolment.contactId) ?? [], arrived),
            ...checkChoices(message, enrolment, choicesOf.get(enrolment.contactId) ?? [], arrived),
          ]
        }),
      ]
    }),
  ]
}

/** Without these, the check of opt-outs has compared nothing. */
export interface OptOutCounts {
  /** Opt-outs that were answered before a message was sent or skipped. */
  optOuts: number
  /** Messages that were skipped after such an opt-out. */
  stopped: number
}

/** Does no I/O. Counts only contacts whose messages are compared. */
export function countOptOuts({ messages, enrolments, choices }: Omit<HeldMessages, 'goals'>): OptOutCounts {
  const contactOf = new Map(
    enrolments.filter(({ isCertain }) => isCertain).map(({ enrolmentId, contactId }) => [enrolmentId, contactId]),
  )
  const messagesOf = Map.groupBy(
    messages.filter(({ needsOptIn }) => needsOptIn),
    ({ enrolmentId }) => contactOf.get(enrolmentId),
  )
  const optOuts = choices.filter(({ subscribed }) => !subscribed)
  const after = optOuts.map(({ contactId, attempts }) =>
    (messagesOf.get(contactId) ?? []).filter(({ claimedAt }) =>
      attempts.some(({ outcome, endedAt }) => outcome === 'answered' && endedAt < claimedAt),
    ),
  )
  return {
    optOuts: after.filter((later) => later.length > 0).length,
    stopped: new Set(after.flat().filter(isStopped)).size,
  }
}

export const checkCounts = ({ optOuts, stopped }: OptOutCounts): string[] =>
  optOuts > 0 && stopped > 0
    ? []
    : [`no opt-out was put to the test: ${optOuts} before a message, ${stopped} stopped one`]

const isStopped = ({ state, reason }: HeldMessage): boolean => state === 'skipped' && reason === 'no_opt_in'

function checkArrivals({ messageId, state }: HeldMessage, arrived: number[]): string[] {
  if (arrived.length > 1) return [`${messageId} arrived ${arrived.length} times`]
  if (state === 'sent' && arrived.length === 0) return [`${messageId} is sent, and did not arrive`]
  if (!['sent', 'unknown', 'claimed'].includes(state) && arrived.length > 0)
    return [`${messageId} is ${state}, and arrived`]
  return []
}

function checkProgress({ enrolmentId, state, isDue }: HeldEnrolment, own: HeldMessage[]): string[] {
  if (state === 'active' && !isDue) return [`${enrolmentId} is active, and waits at no step`]
  const missing = [STEPS[0], STEPS[2]].filter((step) => own.every((message) => message.step !== step))
  return state === 'finished' && missing.length > 0 ? [`${enrolmentId} is finished without ${missing.join()}`] : []
}

/** A goal that was answered before the claim stops the message, unless it happened before the enrolment. */
function checkGoals(
  { messageId, claimedAt }: HeldMessage,
  { enrolledAt, receivedAt, isCertain }: HeldEnrolment,
  goals: AnsweredGoal[],
  [arrivedAt]: number[],
): string[] {
  if (!isCertain || !isDatable({ claimedAt }, arrivedAt)) return []
  const before = goals.find(
    (goal) => goal.occurredAt >= enrolledAt && goal.sentAt > receivedAt && goal.answeredAt < claimedAt,
  )
  return before ? [`${messageId} was claimed at ${claimedAt}, after a goal answered at ${before.answeredAt}`] : []
}

/** False when it did not arrive, and when the clock of the worker was ahead: nobody knows when it was claimed. */
const isDatable = ({ claimedAt }: Pick<HeldMessage, 'claimedAt'>, arrivedAt: number | undefined): boolean =>
  arrivedAt !== undefined && claimedAt <= arrivedAt

/**
 * An opt-out that was answered before the claim stops the message, unless an opt-in may have followed it. A contact that
 * has only opted in, before the enrolment, is sent everything.
 */
function checkChoices(
  message: HeldMessage,
  { receivedAt, isCertain }: HeldEnrolment,
  choices: HeldMessages['choices'],
  [arrivedAt]: number[],
): string[] {
  if (!message.needsOptIn || !isCertain) return []
  const attemptsOf = (wanted: boolean) =>
    choices.filter(({ subscribed }) => subscribed === wanted).flatMap(({ attempts }) => attempts)
  const [optIns, optOuts] = [attemptsOf(true), attemptsOf(false)]
  if (isStopped(message)) {
    const before = optIns.find(({ outcome, endedAt }) => outcome === 'answered' && endedAt < receivedAt)
    return before && optOuts.length === 0
      ? [`${message.messageId} was skipped, after an opt-in answered at ${before.endedAt}`]
      : []
  }
  if (!isDatable(message, arrivedAt)) return []
  const { claimedAt } = message
  const before = optOuts.find(
    (optOut) =>
      optOut.outcome === 'answered' &&
      optOut.endedAt < claimedAt &&
      optIns.every(
        (optIn) =>
          optIn.sentAt > claimedAt ||
          optIn.outcome === 'refused' ||
          optIn.outcome === 'rejected' ||
          (isKept(optIn) && optIn.endedAt <= optOut.sentAt),
      ),
  )
  return before
    ? [`${message.messageId} was claimed at ${claimedAt}, after an opt-out answered at ${before.endedAt}`]
    : []
}

/**
 * Waits until no step is overdue. A message that a killed worker was sending is settled when its claim expires; until
 * then it is not overdue.
 */
async function untilNothingIsOverdue(sql: Sql, campaignIds: string): Promise<number> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const [row] = await sql<[{ overdue: number }]>`
      select count(*)::int as overdue from due_steps
      where campaign_id = any(${campaignIds}::uuid[]) and due_at < ${Date.now() - LATE_MS}`
    if (row.overdue === 0 || Date.now() > deadline) return row.overdue
    await sleep(50)
  }
}

const readMessages = (sql: Sql, campaignIds: string) => sql<HeldMessage[]>`
  select id::text as "messageId", enrolment_id::text as "enrolmentId", step, state, reason, claimed_at as "claimedAt",
    channel <> 'webhook' as "needsOptIn"
  from messages where campaign_id = any(${campaignIds}::uuid[])`

const readEnrolments = (sql: Sql, campaignIds: string) => sql<HeldEnrolment[]>`
  select e.id::text as "enrolmentId", e.contact_id::text as "contactId", e.state, e.enrolled_at as "enrolledAt",
    e.received_at as "receivedAt", d.enrolment_id is not null as "isDue",
    not exists (
      select from merge_log m where m.business_id = e.business_id and e.contact_id in (m.contact_id, m.losing_id)
    ) as "isCertain"
  from enrolments e left join due_steps d on d.business_id = e.business_id and d.enrolment_id = e.id
  where e.campaign_id = any(${campaignIds}::uuid[])`

async function readGoals(sql: Sql, ledger: Ledger, businesses: Business[]): Promise<AnsweredGoal[]> {
  const ids = `{${businesses.map(({ businessId }) => businessId).join(',')}}`
  const rows = await sql<{ name: string; contactId: string }[]>`
    select business_id || ' ' || kind || ':' || value as name, contact_id::text as "contactId"
    from identities where business_id = any(${ids}::uuid[])`
  const owners = new Map(rows.map(({ name, contactId }) => [name, contactId]))
  const goals = new Set(
    businesses.flatMap(({ businessId, campaigns }) =>
      campaigns.filter(({ hasSteps }) => hasSteps).map(({ goal }) => `${businessId} ${goal}`),
    ),
  )
  return [...factsOf(ledger)].flatMap(([fact, sendings]) => {
    const contactId = owners.get(`${fact.businessId} ${fact.identity[0]}`)
    if (contactId === undefined || !goals.has(`${fact.businessId} ${fact.event}`)) return []
    const attempts = attemptsOf(sendings)
    // A repeat changes nothing, so the goal is as old as its first attempt.
    const sentAt = Math.min(...attempts.map((attempt) => attempt.sentAt))
    const answered = attempts.filter(({ outcome }) => outcome === 'answered')
    const answeredAt = Math.min(...answered.map(({ endedAt }) => endedAt))
    return answered.length > 0 ? [{ contactId, occurredAt: fact.occurredAt ?? sentAt, sentAt, answeredAt }] : []
  })
}
