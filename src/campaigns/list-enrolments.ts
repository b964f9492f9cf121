import type { Queryable, Sql } from '../stores/postgres.ts'

export const ENROLMENT_STATES = ['active', 'finished', 'converted', 'stopped', 'merged'] as const
export type EnrolmentStateName = (typeof ENROLMENT_STATES)[number]

/** Instants are ISO 8601 UTC. */
export interface ListedEnrolment {
  enrolmentId: string
  contactId: string
  /** What it is about, such as an order. Null: the contact. */
  key: string | null
  state: EnrolmentStateName
  /** The step where it is. Null when it has ended, or has no steps. */
  stepId: string | null
  /** Null for one without steps. */
  version: number | null
  enrolledAt: string
  /** When it reached the step. */
  since: string | null
  /**
   * When it is moved next. Null while its message is being sent, while a branch waits for the timeline, and while it
   * waits for the end of a pause of the campaign or of a channel.
   */
  nextAt: string | null
  endedAt: string | null
}

export type EnrolmentRow = Omit<ListedEnrolment, 'enrolledAt' | 'since' | 'nextAt' | 'endedAt'> &
  Record<'enrolledAt', number> &
  Record<'since' | 'nextAt' | 'endedAt', number | null>

export interface EnrolmentPage {
  businessId: string
  campaignId: string
  state: EnrolmentStateName | null
  /** Only those with this key. Null: all. */
  key: string | null
  /** The page begins below this id; null for the first page. */
  before: string | null
  limit: number
}

/** Newest first. */
export async function listEnrolments(
  sql: Sql,
  { businessId, campaignId, state, key, before, limit }: EnrolmentPage,
): Promise<ListedEnrolment[]> {
  const rows = await sql<EnrolmentRow[]>`
    select ${enrolmentColumns(sql)}
    from ${key === null ? sql`enrolments` : sql`keyed_enrolments`} e left join due_steps d
      on d.business_id = e.business_id and d.enrolment_id = e.id and e.state = 'active'
    where e.business_id = ${businessId} and e.campaign_id = ${campaignId}
      and e.id < ${before ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'}
      ${key === null ? sql`` : sql`and e.key = ${key} collate "C"`}
      ${state === null ? sql`` : sql`and e.state = ${state}`}
    order by e.id desc limit ${limit}`
  return rows.map(showEnrolment)
}

/** Columns of an EnrolmentRow. `e`: the enrolment; `d`: its position, if it is active. */
export function enrolmentColumns(sql: Queryable) {
  return sql`
    e.id as "enrolmentId", e.contact_id as "contactId", e.key, e.state, d.step as "stepId", e.version,
    e.enrolled_at as "enrolledAt", d.began_at as since,
    case when d.claim is null and not d.held and d.held_by->>'type' is distinct from 'channel_paused' and d.asked_outbox_id is null
      then d.due_at end as "nextAt", e.ended_at as "endedAt"`
}

export const showEnrolment = (row: EnrolmentRow): ListedEnrolment => ({
  ...row,
  enrolledAt: isoTime(row.enrolledAt),
  since: isoOrNull(row.since),
  nextAt: isoOrNull(row.nextAt),
  endedAt: isoOrNull(row.endedAt),
})

const isoTime = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at))
