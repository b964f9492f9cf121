/** Explains why a campaign acted on a contact as it did, and what it waits for (campaigns, "Reading"). */
import { resolveContact } from '../contacts/read/resolve-contact.ts'
import { compileKey, keyPathOf } from '../rules/campaigns/enrolment-key.ts'
import { compileCondition } from '../rules/campaigns/event-condition.ts'
import { MAX_REMEMBERED } from '../rules/limits.ts'
import { compileTrigger } from '../rules/campaigns/event-trigger.ts'
import {
  type NotEntered,
  type PastEnrolment,
  type PastEvent,
  explainTriggers,
} from '../rules/campaigns/explain-triggers.ts'
import type { TimelineEvent } from '../outbox/timeline-row.ts'
import type { Sql } from '../stores/postgres.ts'
import { type ReadDeps, readTimeline } from '../timeline/reading/read-timeline.ts'
import type { Campaign } from './campaign.ts'
import { type ContactInCampaign, type ExplainedEnrolment, explainEnrolments } from './explain-enrolments.ts'
import { type ExplainedSend, explainSends } from './explain-sends.ts'
import { readStatusChanges } from './status-changes.ts'

/** Length of each list, newest first. */
export const MAX_EXPLAINED = 100

export interface Explanation {
  /**
   * The contact's events of the trigger's name, by their dates. When a segment triggers, the latest segment change
   * whose chain was too long.
   */
  triggers: ExplainedTrigger[]
  enrolments: ExplainedEnrolment[]
  sends: ExplainedSend[]
}

export interface ExplainedTrigger {
  /** Null: the contact entered or left the segment. */
  event: string | null
  /** ISO 8601 UTC: the event's `occurredAt`. */
  at: string
  /** Null: the campaign enrols once for each contact, or the event has no key. */
  key: string | null
  entered: boolean
  reason: NotEntered | 'chain_too_long' | null
}

/** `contactId` is a UUID. For a merged contact, the answer is that of its survivor. */
export async function explainCampaign(
  deps: ReadDeps,
  campaign: Campaign,
  { businessId, contactId }: { businessId: string; contactId: string },
): Promise<Explanation | 'contact_not_found' | 'unavailable'> {
  const found = await resolveContact(deps.sql, businessId, contactId)
  if (found === null) return 'contact_not_found'
  const one = { businessId, campaignId: campaign.campaignId, contactId: found.contactId }
  const triggers = await findTriggers(deps, campaign, { ...one, contactIds: found.contactIds })
  if (triggers === 'unavailable') return triggers
  const goal = campaign.goal?.event ?? null
  return {
    triggers,
    enrolments: await explainEnrolments(deps.sql, one, { goal, limit: MAX_EXPLAINED }),
    sends: await explainSends(deps.sql, one, MAX_EXPLAINED),
  }
}

async function findTriggers(
  deps: ReadDeps,
  { trigger, canEnterAgain, enrolPer, goal }: Campaign,
  { contactIds, ...one }: ContactInCampaign & { contactIds: string[] },
): Promise<ExplainedTrigger[] | 'unavailable'> {
  if ('web' in trigger) return listEntries(await readEnrolments(deps.sql, one), trigger.web)
  if (!('event' in trigger)) return await readRefusal(deps.sql, one)
  const { event } = trigger
  const asked = { businessId: one.businessId, contactIds, limit: MAX_EXPLAINED, cursor: null, filter: { event } }
  const page = await readTimeline(deps, asked)
  if (page === 'unavailable' || page === 'invalid_cursor') return 'unavailable'
  // Read after the events, so that the enrolments of events that enrolled the contact are there.
  const enrolments = await readEnrolments(deps.sql, one)
  const keyPath = keyPathOf(enrolPer)
  const past = {
    triggerTest: compileTrigger(trigger),
    readKey: keyPath === null ? null : compileKey(keyPath),
    ownGoal: goal?.event === event ? compileCondition(goal, keyPath) : null,
    canEnterAgain,
    enrolments,
    elsewhere: keyPath === null ? [] : await readElsewhere(deps.sql, one),
    ...(await readStatusChanges(deps.sql, one)),
  }
  const outcomes = explainTriggers(page.events.map(pastEvent), past)
  return page.events.map(({ occurredAt }, index) => {
    const { key = null, entered = false, reason = null } = outcomes[index] ?? {}
    return { event, at: occurredAt, key, entered, reason }
  })
}

/** Page views are not events of the contact: those that have enrolled it are known only from its enrolments. */
const listEntries = (enrolments: readonly PastEnrolment[], event: string): ExplainedTrigger[] =>
  enrolments
    .map(({ enrolledAt }) => enrolledAt)
    .toSorted((one, other) => other - one)
    .slice(0, MAX_EXPLAINED)
    .map((at) => ({ event, at: new Date(at).toISOString(), key: null, entered: true, reason: null }))

async function readRefusal(
  sql: Sql,
  { businessId, campaignId, contactId }: ContactInCampaign,
): Promise<ExplainedTrigger[]> {
  const rows = await sql<{ at: number }[]>`
    select at from chain_refusals
    where business_id = ${businessId} and contact_id = ${contactId} and campaign_id = ${campaignId}`
  return rows.map(({ at }) => ({
    event: null,
    at: new Date(at).toISOString(),
    key: null,
    entered: false,
    reason: 'chain_too_long' as const,
  }))
}

function pastEvent({
  eventId,
  occurredAt,
  receivedAt,
  source,
  value,
  currency,
  type,
  properties,
}: TimelineEvent): PastEvent {
  return {
    eventId,
    occurredAt: Date.parse(occurredAt),
    receivedAt: Date.parse(receivedAt),
    source,
    seen: { value, currency, type, source, properties: () => properties },
  }
}

/** All enrolments of a contact in the campaign: at most 1,000 without keys, and the newest 10,000 with keys. */
async function readEnrolments(
  sql: Sql,
  { businessId, campaignId, contactId }: ContactInCampaign,
): Promise<PastEnrolment[]> {
  return sql<PastEnrolment[]>`
    select enrolled_at as "enrolledAt", received_at as "receivedAt", ended_at as "endedAt", key from enrolments
    where business_id = ${businessId} and contact_id = ${contactId} and campaign_id = ${campaignId}
    order by id desc limit ${MAX_REMEMBERED}`
}

/** The newest enrolments with keys in other campaigns. */
async function readElsewhere(
  sql: Sql,
  { businessId, campaignId, contactId }: ContactInCampaign,
): Promise<PastEnrolment[]> {
  return sql<PastEnrolment[]>`
    select enrolled_at as "enrolledAt", received_at as "receivedAt", ended_at as "endedAt", key from keyed_enrolments
    where business_id = ${businessId} and contact_id = ${contactId} and campaign_id <> ${campaignId}
    order by id desc limit ${MAX_REMEMBERED}`
}
