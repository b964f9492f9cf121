import { walkSteps } from '../rules/campaigns/steps.ts'
import type { Sql } from '../stores/postgres.ts'
import { type BroadcastProgress, readBroadcast } from './broadcasts.ts'
import type { Campaign } from './campaign.ts'
import { ENROLMENT_STATES, type EnrolmentStateName } from './list-enrolments.ts'

export type SendCounts = Record<
  'claimed' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed' | 'unknown',
  number
> & {
  /** By reason. */
  skipped: Record<string, number>
}

export interface Report {
  /** By state, and all together. */
  enrolments: Record<EnrolmentStateName, number> & { enrolled: number }
  /** Converted ones of all. Null without any. */
  conversionRate: number | null
  /** Those that send, first those of the present version in their order. */
  steps: ({ stepId: string } & SendCounts)[]
  /** How far it has come, whatever the range. Null for campaigns that are none, and for drafts. */
  broadcast: BroadcastProgress | null
}

/** Instants of the enrolments, in epoch ms, both in. Null: any. */
export interface ReportRange {
  from: number | null
  to: number | null
}

/** Of the enrolments whose instant lies there. Erased persons count, as of the beginning of the hour. */
export async function readReport(
  sql: Sql,
  businessId: string,
  campaign: Campaign,
  range: ReportRange,
): Promise<Report> {
  const [enrolments, sends, broadcast] = await Promise.all([
    countEnrolments(sql, businessId, campaign.campaignId, range),
    countSends(sql, businessId, campaign.campaignId, range),
    readBroadcast(sql, { businessId, campaignId: campaign.campaignId }),
  ])
  const { enrolled, converted } = enrolments
  const present = walkSteps(campaign.steps).flatMap(({ step }) => (step.type === 'send' ? [step.id] : []))
  const ids = [...new Set([...present, ...[...sends.keys()].toSorted()])]
  return {
    enrolments,
    conversionRate: enrolled === 0 ? null : converted / enrolled,
    steps: ids.map((stepId) => ({ stepId, ...(sends.get(stepId) ?? noSends()) })),
    broadcast,
  }
}

async function countEnrolments(
  sql: Sql,
  businessId: string,
  campaignId: string,
  { from, to }: ReportRange,
): Promise<Report['enrolments']> {
  const rows = await sql<{ state: EnrolmentStateName; many: number }[]>`
    select state, count(*)::int as many
    from (
      select state, enrolled_at from enrolments where business_id = ${businessId} and campaign_id = ${campaignId}
      union all
      select state, enrolled_at from erased_enrolments where business_id = ${businessId} and campaign_id = ${campaignId}
    ) every
    where (${from}::bigint is null or enrolled_at >= ${from}) and (${to}::bigint is null or enrolled_at <= ${to})
    group by state`
  const count = (state: EnrolmentStateName) => rows.find((row) => row.state === state)?.many ?? 0
  const counted = Object.fromEntries(ENROLMENT_STATES.map((state) => [state, count(state)])) as Report['enrolments']
  return { ...counted, enrolled: rows.reduce((sum, { many }) => sum + many, 0) }
}

async function countSends(
  sql: Sql,
  businessId: string,
  campaignId: string,
  { from, to }: ReportRange,
): Promise<Map<string, SendCounts>> {
  const rows = await sql<{ step: string; state: keyof SendCounts; reason: string | null; many: number }[]>`
    select m.step, m.state, m.reason, count(*)::int as many
    from messages m left join enrolments e
      on e.business_id = m.business_id and e.contact_id = m.contact_id and e.id = m.enrolment_id
    where m.business_id = ${businessId} and m.campaign_id = ${campaignId}
      and (${from}::bigint is null or coalesce(e.enrolled_at, m.claimed_at) >= ${from})
      and (${to}::bigint is null or coalesce(e.enrolled_at, m.claimed_at) <= ${to})
    group by 1, 2, 3`
  const steps = new Map<string, SendCounts>()
  for (const { step, state, reason, many } of rows) {
    const counts = steps.get(step) ?? noSends()
    steps.set(step, counts)
    if (state === 'skipped') counts.skipped[reason ?? 'ended'] = many
    else counts[state] += many
  }
  return steps
}

const noSends = (): SendCounts => ({
  claimed: 0,
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  failed: 0,
  unknown: 0,
  skipped: {},
})
