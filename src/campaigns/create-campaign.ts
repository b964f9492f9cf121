import { uuidv7 } from 'uuidv7'
import { type AuditEntry, type Change, recordAudit } from '../audit/audit.ts'
import type { Definition } from '../rules/campaigns/definition.ts'
import type { EnrolPer } from '../rules/campaigns/enrolment-key.ts'
import type { WhileActive } from '../rules/campaigns/while-active.ts'
import type { Goal } from '../rules/campaigns/event-condition.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { type Campaign, type CampaignTrigger, NO_DEFINITION, keyColumns, triggerColumns } from './campaign.ts'
import { readCampaign } from './list-campaigns.ts'
import { storeVersion } from './versions.ts'

export interface NewCampaign {
  name: string
  trigger: CampaignTrigger
  canEnterAgain: boolean
  goalEvent: string | null
  /** Conditions on the events of the goal. */
  goalConditions?: Omit<Goal, 'event'>
  /** Default: once for each contact. */
  enrolPer?: EnrolPer
  /** Default: trigger events are ignored meanwhile. */
  whileActive?: WhileActive
  /** Absent: no steps. */
  definition?: Definition
}

/** Length of a name, in characters. */
export const MAX_NAME = 256
/** Per business, drafts included. */
export const MAX_CAMPAIGNS = 1000

export type CreateOutcome = { kind: 'created'; campaign: Campaign } | { kind: 'too_many' }

/** Creates a draft, which enrols no contact until it is published. */
export const createCampaign = (sql: Sql, change: Change, campaign: NewCampaign): Promise<CreateOutcome> =>
  inTransaction(sql, (tx) => insertCampaign(tx, change, campaign))

/** As `createCampaign`, in a transaction with other changes. `entry`: how the audit log describes the change. */
export async function insertCampaign(
  tx: Queryable,
  { businessId, actor }: Change,
  campaign: NewCampaign,
  entry: Pick<AuditEntry, 'action' | 'details'> = { action: 'campaign.create' },
): Promise<CreateOutcome> {
  const { name, trigger, canEnterAgain, definition = NO_DEFINITION } = campaign
  const { enrolPer = 'contact', whileActive = 'ignore', goalConditions } = campaign
  const goal = campaign.goalEvent === null ? null : { event: campaign.goalEvent, ...goalConditions }
  const keys = keyColumns({ enrolPer, whileActive, goal })
  const { event, web, segment, on, at, where, sources } = triggerColumns(trigger)
  const [created] = await tx<{ id: string }[]>`
    with counted as (
      update businesses set campaign_count = campaign_count + 1
      where id = ${businessId} and campaign_count < ${MAX_CAMPAIGNS}
      returning id
    )
    insert into campaigns (business_id, id, name, trigger_event, trigger_segment, trigger_on, trigger_at, trigger_where,
      trigger_sources, trigger_web, can_enter_again, goal_event, goal_where, goal_key, enrol_per, while_active)
    select id, ${uuidv7()}::uuid, ${name}, ${event}::text, ${segment}::uuid, ${on}::text, ${at}::bigint,
      ${where}::text::json, ${sources}::text::json, ${web}::text, ${canEnterAgain}::boolean,
      ${keys.goalEvent}::text, ${keys.goalWhere}::text::json, ${keys.goalKey}::text::json, ${keys.enrolPer}::text,
      ${keys.whileActive}::text
    from counted
    returning id`
  if (created === undefined) return { kind: 'too_many' }
  const campaignId = created.id
  await storeVersion(tx, { businessId, campaignId, version: 1 }, definition)
  const stored = await readCampaign(tx, businessId, campaignId)
  if (stored === null) throw new Error(`the campaign ${campaignId} is gone, although it was just created`)
  await recordAudit(tx, { businessId, actor, target: campaignId, ...entry })
  return { kind: 'created', campaign: stored }
}
