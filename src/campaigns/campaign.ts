import { DEFAULT_TRACKING, type Definition } from '../rules/campaigns/definition.ts'
import { type EnrolPer, keyPathOf } from '../rules/campaigns/enrolment-key.ts'
import type { WhileActive } from '../rules/campaigns/while-active.ts'
import type { Goal } from '../rules/campaigns/event-condition.ts'
import type { EventTrigger } from '../rules/campaigns/event-trigger.ts'
import type { WebTrigger } from '../rules/campaigns/web-trigger.ts'
import type { Queryable } from '../stores/postgres.ts'

export type CampaignTrigger = EventTrigger | WebTrigger | { segment: string; on: 'enter' | 'leave' } | BroadcastTrigger

/** Each member at one instant is enrolled once. `at` is ISO 8601 UTC; absent: when the campaign is published. */
export interface BroadcastTrigger {
  segment: string
  on: 'members'
  at?: string
}

export const isBroadcast = (trigger: CampaignTrigger): trigger is BroadcastTrigger =>
  'on' in trigger && trigger.on === 'members'

export const CAMPAIGN_STATUSES = ['draft', 'published', 'paused', 'archived'] as const
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

/** A campaign in a list (campaigns, "A campaign"). */
export interface ListedCampaign {
  campaignId: string
  name: string
  status: CampaignStatus
  version: number
  trigger: CampaignTrigger
  canEnterAgain: boolean
  enrolPer: EnrolPer
  whileActive: WhileActive
  goal: Goal | null
}

/** A campaign as callers see it. */
export interface Campaign extends ListedCampaign, Definition {}

/** `triggerAt`: epoch milliseconds. */
export type CampaignRow<Shown extends ListedCampaign = ListedCampaign> = Shown & { triggerAt: number | null }

/** Columns of a CampaignRow. `c`: the campaign. */
export function campaignColumns(sql: Queryable) {
  return sql`
    c.id as "campaignId", c.name, c.status, c.version,
    case when c.trigger_event is not null then json_strip_nulls(json_build_object('event', c.trigger_event, 'where', c.trigger_where, 'sources', c.trigger_sources))
      when c.trigger_web is not null then json_strip_nulls(json_build_object('web', c.trigger_web, 'where', c.trigger_where))
      else json_build_object('segment', c.trigger_segment, 'on', c.trigger_on) end as trigger, c.trigger_at as "triggerAt",
    c.can_enter_again as "canEnterAgain",
    case when c.enrol_per is null then '"contact"' else json_build_object('property', c.enrol_per) end as "enrolPer",
    coalesce(c.while_active, 'ignore') as "whileActive",
    case when c.goal_event is not null then json_strip_nulls(json_build_object('event', c.goal_event, 'where', c.goal_where,
      'sameKey', c.goal_key)) end as goal`
}

export function showCampaign<Shown extends ListedCampaign>({ triggerAt, ...shown }: CampaignRow<Shown>) {
  const { trigger } = shown
  return triggerAt !== null && isBroadcast(trigger)
    ? { ...shown, trigger: { ...trigger, at: new Date(triggerAt).toISOString() } }
    : shown
}

/** The trigger as columns of `campaigns`, with JSON as text. */
export function triggerColumns(trigger: CampaignTrigger) {
  const none = { event: null, web: null, segment: null, on: null, where: null, sources: null }
  const { event, web, segment, on, where, sources } = { ...none, ...trigger }
  const at = isBroadcast(trigger) && trigger.at !== undefined ? Date.parse(trigger.at) : null
  return {
    event,
    web,
    segment,
    on,
    at,
    where: where && JSON.stringify(where),
    sources: sources && JSON.stringify(sources),
  }
}

/** Definition of a campaign without steps. */
export const NO_DEFINITION: Definition = { steps: [], caps: [], holdOut: 0, tracking: DEFAULT_TRACKING }

/** What a campaign enrols for, and its goal, as columns of `campaigns`, with JSON as text. */
export function keyColumns({ enrolPer, whileActive, goal }: Pick<ListedCampaign, 'enrolPer' | 'whileActive' | 'goal'>) {
  return {
    enrolPer: keyPathOf(enrolPer),
    whileActive: whileActive === 'ignore' ? null : whileActive,
    goalEvent: goal?.event ?? null,
    goalWhere: goal?.where === undefined ? null : JSON.stringify(goal.where),
    goalKey: goal?.sameKey === undefined ? null : JSON.stringify(goal.sameKey),
  }
}
