import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import type { ClickHouseClient } from '../stores/clickhouse.ts'
import type { Sql } from '../stores/postgres.ts'
import type { MessageReason, SkippedReason } from '../rules/messages/message-reasons.ts'
import { type BroadcastProgress, readBroadcast } from './broadcasts.ts'
import type { Campaign } from './campaign.ts'
import { type Outcomes, readOutcomes } from './read-outcomes.ts'
import { keysOf } from './read-keyed-revenue.ts'
import { ENROLMENT_STATES, type EnrolmentStateName } from './list-enrolments.ts'

/** A message counts in its latest state and, beside that, in `opened` and `clicked`. */
export type SendCounts = Record<
  'claimed' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed' | 'unknown' | 'opened' | 'clicked',
  number
> & {
  /** Enrolments that have reached the step. */
  entered: number
  /** By reason. */
  skipped: Partial<Record<SkippedReason, number>>
}

export interface Report extends Outcomes {
  /** Number of contacts that these enrolments are of. */
  contacts: number
  /** By state, and in all. */
  enrolments: Record<EnrolmentStateName, number> & { enrolled: number }
  /** Share of converted enrolments. Null without enrolments. */
  conversionRate: number | null
  /** Steps that send: first those of the present version, in their order. */
  steps: ({ stepId: string } & SendCounts)[]
  /** Progress of a broadcast, whatever the range. Null for other campaigns, and for drafts. */
  broadcast: BroadcastProgress | null
}

/** Instants of the enrolments, in epoch milliseconds, both included. Null: any. */
export interface ReportRange {
  from: number | null
  to: number | null
}

/** Report of the enrolments whose instant is in the range. Erased persons count as of the beginning of the hour. */
export async function readReport(
  { sql, clickhouse }: { sql: Sql; clickhouse: ClickHouseClient },
  { id: businessId, timezone }: { id: string; timezone: string },
  campaign: Campaign,
  range: ReportRange,
): Promise<Report> {
  const { campaignId } = campaign
  const [enrolments, sends, waiting, broadcast, outcomes] = await Promise.all([
    countEnrolments(sql, businessId, campaignId, range),
    countSends(sql, businessId, campaignId, range),
    countWaiting(sql, businessId, campaignId, range),
    readBroadcast(sql, { businessId, campaignId }),
    readOutcomes({ sql, clickhouse }, { businessId, campaignId, timezone, keys: keysOf(campaign), ...range }),
  ])
  const countsOf = (stepId: string): SendCounts => {
    const counts = sends.get(stepId) ?? noSends()
    return { ...counts, entered: counts.entered + (waiting.get(stepId) ?? 0) }
  }
  const { enrolled, converted } = enrolments.byState
  const present = walkSteps(campaign.steps).flatMap(({ step }) => (step.type === 'send' ? [step.id] : []))
  const ids = [...new Set([...present, ...[...sends.keys()].toSorted()])]
  return {
    contacts: enrolments.contacts,
    enrolments: enrolments.byState,
    conversionRate: enrolled === 0 ? null : converted / enrolled,
    steps: ids.map((stepId) => ({ stepId, ...countsOf(stepId) })),
    broadcast,
    ...outcomes,
  }
}

async function countEnrolments(
  sql: Sql,
  businessId: string,
  campaignId: string,
  { from, to }: ReportRange,
): Promise<{ contacts: number; byState: Report['enrolments'] }> {
  const rows = await sql<{ state: EnrolmentStateName | null; many: number; contacts: number }[]>`
    select state, count(*)::int as many, (count(distinct person) + count(*) filter (where person is null))::int as contacts
    from (
      select state, enrolled_at, contact_id as person from enrolments
      where business_id = ${businessId} and campaign_id = ${campaignId}
      union all
      select state, enrolled_at, person from erased_enrolments
      where business_id = ${businessId} and campaign_id = ${campaignId}
    ) every
    where (${from}::bigint is null or enrolled_at >= ${from}) and (${to}::bigint is null or enrolled_at <= ${to})
    group by grouping sets ((), (state))`
  const count = (state: EnrolmentStateName) => rows.find((row) => row.state === state)?.many ?? 0
  const counted = Object.fromEntries(ENROLMENT_STATES.map((state) => [state, count(state)])) as Report['enrolments']
  const all = rows.find(({ state }) => state === null)
  return { contacts: all?.contacts ?? 0, byState: { ...counted, enrolled: all?.many ?? 0 } }
}

async function countSends(
  sql: Sql,
  businessId: string,
  campaignId: string,
  { from, to }: ReportRange,
): Promise<Map<string, SendCounts>> {
  type State = Exclude<keyof SendCounts, 'skipped' | 'entered' | 'opened' | 'clicked'>
  type Row = { step: string; many: number; opened: number; clicked: number } & (
    | { state: State; reason: MessageReason | null }
    | { state: 'skipped'; reason: SkippedReason }
  )
  const rows = await sql<Row[]>`
    select m.step, m.state, m.reason, count(*)::int as many,
      (count(*) filter (where m.opened))::int as opened, (count(*) filter (where m.clicked))::int as clicked
    from messages m left join enrolments e
      on e.business_id = m.business_id and e.contact_id = m.contact_id and e.id = m.enrolment_id
    where m.business_id = ${businessId} and m.campaign_id = ${campaignId}
      and (${from}::bigint is null or coalesce(e.enrolled_at, m.claimed_at) >= ${from})
      and (${to}::bigint is null or coalesce(e.enrolled_at, m.claimed_at) <= ${to})
    group by 1, 2, 3`
  const steps = new Map<string, SendCounts>()
  for (const { step, state, reason, many, opened, clicked } of rows) {
    const counts = steps.get(step) ?? noSends()
    steps.set(step, counts)
    counts.entered += many
    counts.opened += opened
    counts.clicked += clicked
    if (state === 'skipped') counts.skipped[reason] = many
    else counts[state] += many
  }
  return steps
}

/** Enrolments at a step without a message, for example because of quiet hours or a cap. */
async function countWaiting(
  sql: Sql,
  businessId: string,
  campaignId: string,
  { from, to }: ReportRange,
): Promise<Map<string, number>> {
  const rows = await sql<{ step: string; many: number }[]>`
    select d.step, count(*)::int as many
    from enrolments e join due_steps d on d.business_id = e.business_id and d.enrolment_id = e.id
    where e.business_id = ${businessId} and e.campaign_id = ${campaignId}
      and (${from}::bigint is null or e.enrolled_at >= ${from}) and (${to}::bigint is null or e.enrolled_at <= ${to})
      and not exists (
        select from messages m where m.business_id = d.business_id and m.enrolment_id = d.enrolment_id and m.step = d.step
      )
    group by d.step`
  return new Map(rows.map(({ step, many }) => [step, many]))
}

const noSends = (): SendCounts => ({
  entered: 0,
  opened: 0,
  clicked: 0,
  claimed: 0,
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  failed: 0,
  unknown: 0,
  skipped: {},
})
