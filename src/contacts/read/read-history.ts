import { CHANNELS } from '../../rules/events/facts.ts'
import { type StageEntry, stageHistory } from '../../rules/events/stage-history.ts'
import type { Sql } from '../../stores/postgres.ts'
import { isoTime } from './read-contact.ts'

/** The latest choice for a channel. */
export interface Consent {
  channel: (typeof CHANNELS)[number]
  subscribed: boolean
  method: string
  /** ISO 8601 UTC. */
  recordedAt: string
}

/** A stage of the journey, and the event that moved the contact to it. */
export interface StageChange extends Omit<StageEntry, 'at'> {
  /** ISO 8601 UTC. */
  at: string
}

/** A merge, move or release of an identity, and its cause. */
export interface MergeRecord {
  action: 'merged' | 'moved' | 'released'
  /** The contact that was merged away, or that lost an identity. */
  losingId: string
  /** The identities that caused it. */
  evidence: { kind: string; value: string }[]
  /** ISO 8601 UTC. */
  recordedAt: string
}

export interface ContactHistory {
  consents: Consent[]
  /** All choices, newest first; at most `MAX_CHOICES`. */
  consentHistory: Consent[]
  /** Oldest first. */
  stages: StageChange[]
  /** Newest first; at most `MAX_MERGES`. */
  merges: MergeRecord[]
  /** Names of the campaigns that the contact is or was enrolled in, by id. */
  campaignNames: Record<string, string>
}

export const MAX_MERGES = 200
export const MAX_CHOICES = 200

interface Row {
  consents: (Omit<Consent, 'recordedAt'> & { recordedAt: number })[]
  consentHistory: (Omit<Consent, 'recordedAt'> & { recordedAt: number })[]
  /** Null when the contact has been erased in the meantime. */
  createdAt: number | null
  events: { event: string; firstAt: number }[]
  merges: (Omit<MergeRecord, 'recordedAt'> & { recordedAt: number })[]
  campaignNames: Record<string, string>
}

/**
 * Reads the consents, stages, merges and campaigns of a contact. `contactIds`: the survivor first, then the ids merged
 * into it.
 */
export async function readHistory(
  sql: Sql,
  { businessId, contactId, contactIds }: { businessId: string; contactId: string; contactIds: string[] },
): Promise<ContactHistory> {
  const ids = `{${contactIds.join(',')}}`
  const [row] = await sql<[Row]>`
    select
      (select coalesce(json_agg(json_build_object('channel', s.channel, 'subscribed', s.subscribed, 'method', s.method,
          'recordedAt', s.recorded_at)), '[]')
        from subscriptions s where s.business_id = ${businessId} and s.contact_id = ${contactId}) as consents,
      (select coalesce(json_agg(json_build_object('channel', h.channel, 'subscribed', h.subscribed, 'method', h.method,
          'recordedAt', h.recorded_at) order by h.recorded_at desc, h.id desc), '[]')
        from (
          select * from consent_history o where o.business_id = ${businessId} and o.contact_id = ${contactId}
          order by o.recorded_at desc, o.id desc limit ${MAX_CHOICES}
        ) h) as "consentHistory",
      (select c.created_at from contacts c where c.business_id = ${businessId} and c.id = ${contactId}) as "createdAt",
      (select coalesce(json_agg(json_build_object('event', e.event, 'firstAt', e.first_at)), '[]')
        from event_statistics e where e.business_id = ${businessId} and e.contact_id = ${contactId}) as events,
      (select coalesce(json_agg(json_build_object('action', m.action, 'losingId', m.losing_id, 'evidence', m.evidence,
          'recordedAt', m.recorded_at) order by m.recorded_at desc, m.id desc), '[]')
        from (
          select * from merge_log l
          where l.business_id = ${businessId} and l.contact_id = any(${ids}::uuid[])
          order by l.recorded_at desc, l.id desc limit ${MAX_MERGES}
        ) m) as merges,
      (select coalesce(json_object_agg(c.id, c.name), '{}')
        from campaigns c where c.business_id = ${businessId} and c.id in (
          select e.campaign_id from enrolments e where e.business_id = ${businessId} and e.contact_id = ${contactId}
        )) as "campaignNames"`
  return {
    consents: CHANNELS.flatMap((channel) => row.consents.filter((one) => one.channel === channel)).map(dated),
    consentHistory: row.consentHistory.map(dated),
    stages: row.createdAt === null ? [] : stageHistory(row.createdAt, row.events).map(showStage),
    merges: row.merges.map(dated),
    campaignNames: row.campaignNames,
  }
}

const dated = <T extends { recordedAt: number }>(one: T) => ({ ...one, recordedAt: isoTime(one.recordedAt) })

const showStage = ({ at, ...entry }: StageEntry): StageChange => ({ ...entry, at: isoTime(at) })
