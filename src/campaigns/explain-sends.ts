import type { CheckedSend } from '../rules/campaigns/checked-send.ts'
import type { SetBy } from '../rules/campaigns/messaging.ts'
import type { Queryable } from '../stores/postgres.ts'
import type { ContactInCampaign } from './explain-enrolments.ts'
import { type Message, type MessageRow, messageColumns, showMessage } from './read-messages.ts'

/** What the latest claim checked. Instants are ISO 8601 UTC. */
export interface ShownCheck {
  at: string
  dueAt: string
  waited: Omit<CheckedSend['waited'], 'since'> & { since: string }
  /** Of the enrolment. Null: it has none. */
  key: string | null
  kind: CheckedSend['kind']
  goal: { event: string; lastAt: string | null } | null
  heldOut: boolean
  consent: { subscribed: boolean; at: string; method: string } | null
  /** Null: the message has none. */
  topic: {
    key: string
    subscribed: boolean
    from: 'choice' | 'default'
    at: string | null
    method: string | null
  } | null
  suppressed: boolean
  zone: string
  quietHours: CheckedSend['quietHours']
  quietHoursSetBy: SetBy
  isImmediate: boolean
  window: { from: string; until: string | null } | null
  caps: CheckedSend['caps']
}

export interface ExplainedSend extends Message {
  checked: ShownCheck
}

/** Returns the newest messages of a contact in a campaign, newest first. */
export async function explainSends(
  sql: Queryable,
  { businessId, campaignId, contactId }: ContactInCampaign,
  limit: number,
): Promise<ExplainedSend[]> {
  const rows = await sql<(MessageRow & { checked: CheckedSend })[]>`
    select ${messageColumns(sql)}, checked from messages
    where business_id = ${businessId} and contact_id = ${contactId} and campaign_id = ${campaignId}
    order by id desc limit ${limit}`
  return rows.map(({ checked, ...row }) => ({ ...showMessage(row), checked: showCheck(checked) }))
}

function showCheck({ key, goal, goalLastAt, isHeldOut, ...checked }: CheckedSend): ShownCheck {
  const { waited, consent, topic, window } = checked
  return {
    ...checked,
    key: key ?? null,
    at: isoTime(checked.at),
    dueAt: isoTime(checked.dueAt),
    waited: { ...waited, since: isoTime(waited.since) },
    goal: goal === null ? null : { event: goal, lastAt: isoOrNull(goalLastAt) },
    heldOut: isHeldOut,
    consent: consent && { ...consent, at: isoTime(consent.at) },
    topic: topic === undefined ? null : { ...topic, at: isoOrNull(topic.at) },
    window: window && { from: isoTime(window.from), until: isoOrNull(window.until) },
  }
}

const isoTime = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at))
