import type { HeldBy } from '../rules/campaigns/checked-send.ts'
import type { Step } from '../rules/campaigns/steps.ts'
import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import { type WaitsFor, waitsFor } from '../rules/campaigns/waits-for.ts'
import type { Queryable } from '../stores/postgres.ts'
import { type EnrolmentRow, type ListedEnrolment, enrolmentColumns, showEnrolment } from './list-enrolments.ts'
import { readVersion } from './versions.ts'

export interface ExplainedEnrolment extends ListedEnrolment {
  /** Null: it has ended, or is moved on as soon as a worker is free. */
  waitsFor: WaitsFor | null
}

interface Row extends EnrolmentRow {
  heldBy: HeldBy | null
  attempts: number | null
  isSending: boolean
  isHeld: boolean
  isSettled: boolean
  isAsking: boolean
}

export interface ContactInCampaign {
  businessId: string
  campaignId: string
  /** The survivor. */
  contactId: string
}

/** Returns the newest enrolments of a contact, newest first. */
export async function explainEnrolments(
  sql: Queryable,
  { businessId, campaignId, contactId }: ContactInCampaign,
  { goal, limit }: { goal: string | null; limit: number },
): Promise<ExplainedEnrolment[]> {
  const rows = await sql<Row[]>`
    select ${enrolmentColumns(sql)}, d.held_by as "heldBy", d.attempts, d.claim is not null as "isSending",
      coalesce(d.held, false) as "isHeld", coalesce(d.settled, false) as "isSettled",
      d.asked_outbox_id is not null as "isAsking"
    from enrolments e left join due_steps d
      on d.business_id = e.business_id and d.enrolment_id = e.id and e.state = 'active'
    where e.business_id = ${businessId} and e.contact_id = ${contactId} and e.campaign_id = ${campaignId}
    order by e.id desc limit ${limit}`
  const steps = await readSteps(sql, { businessId, campaignId }, rows)
  return rows.map(({ heldBy, attempts, isSending, isHeld, isSettled, isAsking, ...row }) => {
    const step = steps.get(`${row.version} ${row.stepId}`) ?? null
    const waiting = { step, goal, heldBy, attempts: attempts ?? 0, isSending, isHeld, isSettled, isAsking }
    return { ...showEnrolment(row), waitsFor: row.state === 'active' ? waitsFor(waiting) : null }
  })
}

/** By version and id. */
async function readSteps(
  sql: Queryable,
  campaign: { businessId: string; campaignId: string },
  rows: readonly EnrolmentRow[],
): Promise<ReadonlyMap<string, Step>> {
  const versions = new Set(
    rows.flatMap(({ state, version }) => (state === 'active' && version !== null ? [version] : [])),
  )
  const steps = new Map<string, Step>()
  for (const version of versions) {
    const definition = await readVersion(sql, { ...campaign, version })
    for (const { step } of walkSteps(definition?.steps ?? [])) steps.set(`${version} ${step.id}`, step)
  }
  return steps
}
