/** Stores the versions of a campaign's definition. */
import type { Definition } from '../rules/campaigns/definition.ts'
import { type EventCondition, isConditional } from '../rules/campaigns/event-condition.ts'
import type { Step, StepType, WaitForStep } from '../rules/campaigns/steps.ts'
import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import type { Queryable } from '../stores/postgres.ts'

/** Per campaign: each change of a published campaign makes a version. */
export const MAX_VERSIONS = 1000

export interface VersionKey {
  businessId: string
  campaignId: string
  version: number
}

/** Stores a version: that of a draft is replaced, another one is added. */
export async function storeVersion(
  tx: Queryable,
  { businessId, campaignId, version }: VersionKey,
  definition: Definition,
): Promise<void> {
  const [first] = definition.steps
  const conditions = conditionsIn(definition.steps)
  await tx`
    insert into campaign_versions (business_id, campaign_id, version, definition, first_step, first_listens_for, listens_for, waits)
    values (${businessId}, ${campaignId}, ${version}, ${JSON.stringify(definition)}::text::jsonb, ${first?.id ?? null},
      ${first?.type === 'wait_for' && !isConditional(first) ? first.event : null},
      array(select json_array_elements_text(${JSON.stringify(namesAwaitedIn(definition.steps))}::text::json)),
      ${conditions.length === 0 ? null : JSON.stringify(conditions)}::text::json)
    on conflict (business_id, campaign_id, version) do update set
      definition = excluded.definition, first_step = excluded.first_step, first_listens_for = excluded.first_listens_for,
      listens_for = excluded.listens_for, waits = excluded.waits, created_at = excluded.created_at`
}

/** Returns null when there is none. */
export async function readVersion(
  sql: Queryable,
  { businessId, campaignId, version }: VersionKey,
): Promise<Definition | null> {
  const [row] = await sql<{ definition: Definition }[]>`
    select definition from campaign_versions
    where business_id = ${businessId} and campaign_id = ${campaignId} and version = ${version}`
  return row?.definition ?? null
}

/** Returns the steps of all versions of a campaign, by id. */
export async function listEarlierSteps(
  sql: Queryable,
  businessId: string,
  campaignId: string,
): Promise<ReadonlyMap<string, StepType>> {
  const rows = await sql<{ id: string; type: StepType }[]>`
    select distinct step ->> 'id' as id, step ->> 'type' as type
    from campaign_versions v cross join lateral jsonb_path_query(v.definition, 'strict $.steps.**') step
    where v.business_id = ${businessId} and v.campaign_id = ${campaignId}
      and jsonb_typeof(step) = 'object' and step ? 'id' and step ? 'type'`
  return new Map(rows.map(({ id, type }) => [id, type]))
}

const waitsIn = (steps: readonly Step[]): WaitForStep[] =>
  walkSteps(steps).flatMap(({ step }) => (step.type === 'wait_for' ? [step] : []))

/** The events that steps wait for, whatever these say. */
export const namesAwaitedIn = (steps: readonly Step[]): string[] => [
  ...new Set(waitsIn(steps).flatMap((step) => (isConditional(step) ? [] : [step.event]))),
]

/** As `campaign_versions.waits` has them. */
const conditionsIn = (steps: readonly Step[]): (EventCondition & { step: string })[] =>
  waitsIn(steps)
    .filter(isConditional)
    .map(({ id, event, where, sameKey }) => ({
      step: id,
      event,
      ...(where && { where }),
      ...(sameKey !== undefined && { sameKey }),
    }))
