/** What saves need of campaigns with keys and of conditions on events: how it is stored, and how it is compiled. */
import { compileKey } from '../../rules/campaigns/enrolment-key.ts'
import type { WhileActive } from '../../rules/campaigns/while-active.ts'
import {
  type CompiledCondition,
  type EventCondition,
  compileCondition,
  isConditional,
} from '../../rules/campaigns/event-condition.ts'
import type { BusinessState, FirstStep, KeyedCampaign } from '../../rules/business-state.ts'

/** Columns of a campaign that is loaded with its business. */
export interface StoredKeys {
  enrolPer: string | null
  whileActive: Exclude<WhileActive, 'ignore'> | null
  goalEvent: string | null
  goalWhere: EventCondition['where'] | null
  goalKey: true | string | null
  /** Epoch milliseconds. */
  publishedAt: number
  /** Of all versions. */
  waits: EventCondition[] | null
  firstSteps: (FirstStep & { version: number })[] | null
}

/** SQL over the campaign `c`: columns. */
export const FIELDS_OF_CONDITIONS = `c.enrol_per as "enrolPer", c.goal_event as "goalEvent", c.goal_where as "goalWhere",
  c.goal_key as "goalKey", (
    select json_agg(w) from campaign_versions v cross join lateral json_array_elements(v.waits) w
    where v.business_id = c.business_id and v.campaign_id = c.id
  ) as waits`

/** `keyed` is absent for a campaign that has nothing of it. */
export function compileKeys<Stored extends StoredKeys>({
  enrolPer,
  whileActive,
  goalWhere,
  goalKey,
  publishedAt,
  waits,
  firstSteps,
  ...campaign
}: Stored): { campaign: Omit<Stored, Exclude<keyof StoredKeys, 'goalEvent'>>; keyed?: KeyedCampaign } {
  const goal = goalOf({ goalEvent: campaign.goalEvent, goalWhere, goalKey }, enrolPer)
  if (enrolPer === null && whileActive === null && goal === null && waits === null) return { campaign }
  return {
    campaign,
    keyed: {
      readKey: enrolPer === null ? null : compileKey(enrolPer),
      keyPath: enrolPer,
      goal,
      whileActive: whileActive ?? 'ignore',
      firstSteps: new Map((firstSteps ?? []).map(({ version, ...step }) => [version, step])),
      publishedAt,
    },
  }
}

function goalOf(
  { goalEvent, goalWhere, goalKey }: Pick<StoredKeys, 'goalEvent' | 'goalWhere' | 'goalKey'>,
  keyPath: string | null,
): CompiledCondition | null {
  if (goalEvent === null) return null
  const condition = {
    event: goalEvent,
    ...(goalWhere && { where: goalWhere }),
    ...(goalKey !== null && { sameKey: goalKey }),
  }
  return isConditional(condition) ? compileCondition(condition, keyPath) : null
}

/** Each condition once, however many steps have it. */
export function compileAwaited(
  campaigns: readonly StoredKeys[],
): Pick<BusinessState, 'hasConditions' | 'awaitedConditions'> {
  const all = campaigns.flatMap(({ waits, enrolPer }) => (waits ?? []).map((one) => compileCondition(one, enrolPer)))
  const distinct = [...new Map(all.map((one) => [one.identity, one])).values()]
  const hasGoals = campaigns.some(({ goalWhere, goalKey }) => goalWhere !== null || goalKey !== null)
  return {
    hasConditions: hasGoals || distinct.length > 0,
    awaitedConditions: Map.groupBy(distinct, ({ event }) => event),
  }
}

/** The names of the events whose properties goals and steps compare. */
export function conditionalEvents(business: BusinessState | undefined): string[] {
  if (!business?.hasConditions) return []
  const goals = business.campaigns.flatMap(({ keyed }) => (keyed?.goal ? [keyed.goal.event] : []))
  return [...new Set([...goals, ...business.awaitedConditions.keys()])]
}
