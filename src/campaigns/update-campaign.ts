import { isDeepStrictEqual } from 'node:util'
import { uuidv7 } from 'uuidv7'
import { type Change, recordAudit } from '../audit/audit.ts'
import type { Config } from '../config.ts'
import type { Definition } from '../rules/campaigns/definition.ts'
import { checkKeys } from '../rules/campaigns/check-keys.ts'
import type { EnrolPer } from '../rules/campaigns/enrolment-key.ts'
import type { WhileActive } from '../rules/campaigns/while-active.ts'
import type { Goal } from '../rules/campaigns/event-condition.ts'
import { readDefinition } from '../rules/campaigns/read-definition.ts'
import type { Fault } from '../rules/faults.ts'
import { listFieldTypes, lockBusiness } from '../segments/load-definitions.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { type Campaign, type CampaignTrigger, keyColumns, triggerColumns } from './campaign.ts'
import { findCrowdedEvent } from './check-conditions.ts'
import { checkPublish } from './check-publish.ts'
import { readCampaign } from './list-campaigns.ts'
import { raiseConfig } from './publish-campaign.ts'
import { MAX_VERSIONS, listEarlierSteps, storeVersion } from './versions.ts'

/** Absent fields stay unchanged. */
export interface CampaignChange {
  name?: string
  trigger?: CampaignTrigger
  canEnterAgain?: boolean
  enrolPer?: EnrolPer
  whileActive?: WhileActive
  /** Null: no goal. */
  goal?: Goal | null
  /** The fields that are to change, as they were sent: of `DEFINED`. */
  definition: Record<string, unknown>
}

export type UpdateOutcome =
  /** `fields`: the changed ones. */
  | { kind: 'updated'; campaign: Campaign; fields: string[] }
  | { kind: 'faults'; faults: Fault[] }
  /** `fields`: those that can no longer change. Null: nothing can. */
  | { kind: 'locked'; fields: string[] | null }
  | { kind: 'too_many_versions' }
  | { kind: 'too_many_conditions'; reason: Fault }
  | { kind: 'not_found' }

const LOCKED = ['trigger', 'canEnterAgain', 'enrolPer', 'whileActive', 'goal'] as const
const DEFINED = ['steps', 'quietHours', 'caps', 'holdOut', 'tracking', 'topic', 'senders'] as const

/** Changes a campaign. A new definition of a published campaign makes a new version, which later enrolments follow. */
export async function updateCampaign(
  { sql, config }: { sql: Sql; config: Pick<Config, 'secretsKey'> },
  { businessId, actor }: Change,
  campaignId: string,
  wanted: CampaignChange,
): Promise<UpdateOutcome> {
  return await inTransaction(sql, async (tx) => {
    await lockBusiness(tx, businessId)
    const before = await readCampaign(tx, businessId, campaignId)
    if (before === null) return { kind: 'not_found' }
    if (before.status === 'archived') return { kind: 'locked', fields: null }
    const read = await readChange(tx, businessId, before, wanted)
    if ('faults' in read) return { kind: 'faults', ...read }
    const next: Campaign = { ...before, ...read.plain, ...read.definition }
    if (read.definition.quietHours === undefined) delete next.quietHours
    if (read.definition.senders === undefined) delete next.senders
    if (read.definition.topic === undefined) delete next.topic
    const fields = [...(['name', ...LOCKED, ...DEFINED] as const)].filter(
      (field) => !isDeepStrictEqual(before[field], next[field]),
    )
    const isDraft = before.status === 'draft'
    const locked = isDraft ? [] : LOCKED.filter((field) => fields.includes(field))
    if (locked.length > 0) return { kind: 'locked', fields: locked }
    const unusable = checkKeys({ ...next, isByEvent: 'event' in next.trigger })
    if (unusable.length > 0) return { kind: 'faults', faults: unusable }
    const isOther = DEFINED.some((field) => fields.includes(field))
    if (!isDraft && isOther) {
      const faults = await checkPublish(tx, businessId, next, config.secretsKey)
      if (faults.length > 0) return { kind: 'faults', faults }
      const crowded = await findCrowdedEvent(tx, businessId, next)
      if (crowded !== null) return { kind: 'too_many_conditions', reason: crowded }
      if (before.version >= MAX_VERSIONS) return { kind: 'too_many_versions' }
      next.version = before.version + 1
    }
    if (fields.length > 0) await store(tx, businessId, next, isOther ? read.definition : null)
    if (!isDraft && isOther) await raiseConfig(tx, businessId)
    const entry = { businessId, actor, action: 'campaign.update', target: campaignId }
    if (fields.length > 0) await recordAudit(tx, { ...entry, details: { fields } })
    return { kind: 'updated', campaign: next, fields }
  })
}

async function readChange(
  tx: Queryable,
  businessId: string,
  before: Campaign,
  { definition: sent, ...plain }: CampaignChange,
): Promise<{ plain: Partial<Campaign>; definition: Definition } | { faults: Fault[] }> {
  const { steps, caps, holdOut, tracking, quietHours, topic, senders } = before
  const own = {
    ...(quietHours !== undefined && { quietHours }),
    ...(topic !== undefined && { topic }),
    ...(senders !== undefined && { senders }),
  }
  const present = { steps, caps, holdOut, tracking, ...own }
  if (Object.keys(sent).length === 0) return { plain, definition: present }
  const isDraft = before.status === 'draft'
  const read = readDefinition(
    { ...present, ...sent },
    {
      fields: await listFieldTypes(tx, businessId),
      newId: uuidv7,
      // A draft has no enrolments.
      ...(!isDraft && { earlier: await listEarlierSteps(tx, businessId, before.campaignId) }),
    },
  )
  return 'faults' in read ? read : { plain, definition: read.definition }
}

async function store(
  tx: Queryable,
  businessId: string,
  { campaignId, name, trigger, canEnterAgain, version, ...campaign }: Campaign,
  definition: Definition | null,
): Promise<void> {
  const { event, web, segment, on, at, where, sources } = triggerColumns(trigger)
  const keys = keyColumns(campaign)
  await tx`
    update campaigns set name = ${name}, trigger_event = ${event}, trigger_segment = ${segment}, trigger_on = ${on},
      trigger_at = ${at}, trigger_where = ${where}::text::json, trigger_sources = ${sources}::text::json, trigger_web = ${web},
      can_enter_again = ${canEnterAgain}, version = ${version}, goal_event = ${keys.goalEvent},
      goal_where = ${keys.goalWhere}::text::json, goal_key = ${keys.goalKey}::text::json, enrol_per = ${keys.enrolPer},
      while_active = ${keys.whileActive}
    where business_id = ${businessId} and id = ${campaignId}`
  if (definition !== null) await storeVersion(tx, { businessId, campaignId, version }, definition)
}
