/** Everything that a backtest needs to know before it reads a history. */
import { longestWindow } from '../../rules/campaigns/caps.ts'
import { isConditional } from '../../rules/campaigns/event-condition.ts'
import type { Step } from '../../rules/campaigns/steps.ts'
import { valuesIn, walkSteps } from '../../rules/campaigns/walk-steps.ts'
import type { MessageChannel } from '../../rules/messages/message-channel.ts'
import { type CompiledSegment, compileSegments } from '../../rules/segments/compile/compile-segments.ts'
import { resolveRule } from '../../rules/segments/resolve-rule.ts'
import { type Definitions, rulesOf } from '../../segments/load-definitions.ts'
import type { Campaign } from '../campaign.ts'

/** Data without a history, which is taken as of today or left out: see docs/campaigns.md. */
export const APPROXIMATIONS = [
  'settings',
  'contact',
  'suppressions',
  'merges',
  'rule_facts',
  'rule_sums',
  'segment_history',
  'web_identification',
] as const
export type Approximation = (typeof APPROXIMATIONS)[number]

export interface BacktestRequest {
  business: { id: string; timezone: string }
  /**
   * Includes the rules of the business: see `withMessaging`. The rules of its branches can be resolved with
   * `definitions`.
   */
  campaign: Campaign
  definitions: Definitions
  /** Epoch milliseconds; `to` is not included. */
  from: number
  to: number
  /** Epoch milliseconds: events that were received up to then count. */
  now: number
}

export interface Plan extends BacktestRequest {
  /** By step. */
  branches: ReadonlyMap<string, CompiledSegment>
  /** Names of the events to read. Null: all events of a contact. */
  names: readonly string[] | null
  /** Names of the events whose properties are read. */
  readNames: readonly string[]
  /** Channels of its messages. */
  channels: readonly MessageChannel[]
  /** How far back messages of other campaigns count, in milliseconds. 0: no cap limits it. */
  capWindow: number
  approximations: Approximation[]
}

export function planBacktest(asked: BacktestRequest): Plan {
  const { campaign, definitions } = asked
  const branches = compileBranches(campaign.steps, definitions)
  const reads = [...branches.values()].flatMap((branch) => [...branch.reads])
  const channels = [...new Set(valuesIn(campaign.steps, 'channel'))]
  const readsAll = reads.some((key) => key === 'stage' || key === 'orders' || key.startsWith('revenue:'))
  const named = [
    ...('event' in campaign.trigger ? [campaign.trigger.event] : []),
    ...(campaign.goal === null ? [] : [campaign.goal.event]),
    ...valuesIn(campaign.steps, 'event'),
    ...reads.flatMap((key) => (key.startsWith('event:') ? [key.slice('event:'.length)] : [])),
  ]
  return {
    ...asked,
    branches,
    readNames: readNamesOf(campaign),
    names: readsAll ? null : [...new Set(named)],
    channels,
    capWindow: Math.max(0, ...channels.map((channel) => longestWindow(campaign.caps, channel))),
    approximations: approximationsOf(campaign, reads, channels),
  }
}

function readNamesOf({ trigger, enrolPer, goal, steps }: Campaign): string[] {
  const isRead = 'event' in trigger && (trigger.where !== undefined || enrolPer !== 'contact')
  const conditions = walkSteps(steps).flatMap(({ step }) => (step.type === 'wait_for' ? [step] : []))
  const conditional = [...(goal ? [goal] : []), ...conditions].filter(isConditional)
  return [...new Set([...(isRead ? [trigger.event] : []), ...conditional.map(({ event }) => event)])]
}

function compileBranches(steps: readonly Step[], definitions: Definitions): Map<string, CompiledSegment> {
  const context = { ...definitions, segments: rulesOf(definitions) }
  const rules = walkSteps(steps).flatMap(({ step }, no) =>
    step.type === 'branch'
      ? [{ no, segmentId: step.id, isBuilding: false, rule: resolveRule(step.rule, context) }]
      : [],
  )
  return new Map(compileSegments(rules, definitions.fields).all.map((compiled) => [compiled.segmentId, compiled]))
}

const TODAY = /^(field|tag|profile|identity):/

function approximationsOf(
  { trigger }: Campaign,
  reads: readonly string[],
  channels: readonly MessageChannel[],
): Approximation[] {
  const holds: Record<Approximation, boolean> = {
    settings: true,
    contact: true,
    suppressions: channels.length > 0,
    merges: true,
    rule_facts: reads.some((key) => TODAY.test(key)),
    rule_sums: reads.some((key) => key.startsWith('window:')),
    segment_history: 'segment' in trigger,
    web_identification: 'web' in trigger,
  }
  return APPROXIMATIONS.filter((one) => holds[one])
}
