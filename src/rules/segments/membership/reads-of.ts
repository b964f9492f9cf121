import { isWindowed } from '../condition-kinds.ts'
import { isTimedOperator } from '../grammar/operators.ts'
import type { FactKey, TimeKey } from './facts.ts'
import type { AttributeCondition, ResolvedCondition, ResolvedFactCondition, ResolvedRule, Rule } from '../rule.ts'
import { conditionsOf, walkConditions } from '../walk-conditions.ts'
import { topicChannel } from '../../topics/topic.ts'
import { windowKey } from '../windows/window-key.ts'

/** Returns the facts that a rule reads, including those of its inner segments. */
export function readsOf(rule: ResolvedRule): Set<FactKey> {
  return new Set(factConditionsOf(rule).flatMap(factKeysOf))
}

/** Returns whether time alone can change the answer. The instants of windowed conditions are stored elsewhere. */
export function isTimed(rule: ResolvedRule): boolean {
  return factConditionsOf(rule).some(isTimedCondition)
}

/** Returns the ids of the segments that a rule itself names. */
export function dependsOn(rule: Rule): string[] {
  const ids = conditionsOf(rule).flatMap((condition) => ('segment' in condition ? [condition.segment] : []))
  return [...new Set(ids)]
}

/** Returns all conditions that read a fact, including those of inner segments. */
export function factConditionsOf(rule: ResolvedRule): ResolvedFactCondition[] {
  const found: ResolvedFactCondition[] = []
  walkConditions<ResolvedCondition>(rule, '', (condition) => {
    if ('segment' in condition) found.push(...factConditionsOf(condition.rule))
    else found.push(condition)
  })
  return found
}

export const isTimedCondition = ({ operator }: ResolvedFactCondition): boolean => isTimedOperator(operator)

/** Empty for a fact that never changes. */
function factKeysOf(condition: ResolvedFactCondition): FactKey[] {
  if ('event' in condition) {
    return [isWindowed(condition) ? `window:${windowKey(condition)}` : `event:${condition.event}`]
  }
  if ('customField' in condition) return [`field:${condition.customField}`]
  if ('tag' in condition) return [`tag:${condition.tag}`]
  const key = attributeKeyOf(condition)
  const { topic } = condition
  const choice = topic === undefined ? [] : [`topic:${topicChannel(topic, channelOf(condition))}` as const]
  return [...(key === null ? [] : [key]), ...choice]
}

/** Returns the time key of a condition whose answer time changes. */
export function timeKeyOf(condition: ResolvedFactCondition): TimeKey {
  if ('event' in condition) return condition.metric === 'first' ? `first:${condition.event}` : `last:${condition.event}`
  return 'customField' in condition ? `field:${condition.customField}` : 'createdAt'
}

function attributeKeyOf(condition: AttributeCondition): FactKey | null {
  const { attribute } = condition
  switch (attribute) {
    case 'createdAt':
      return null
    case 'stage':
      return 'stage'
    case 'orderCount':
      return 'orders'
    case 'revenue':
      return `revenue:${currencyOf(condition)}`
    case 'subscribed':
      return `subscription:${channelOf(condition)}`
    case 'email':
    case 'phone':
    case 'platformCustomerId':
      return `identity:${attribute}`
    default:
      return `profile:${attribute}`
  }
}

export function currencyOf({ currency }: AttributeCondition): string {
  if (currency === undefined) throw new Error('the rule was not resolved: revenue has no currency')
  return currency
}

export function channelOf({ channel }: AttributeCondition): NonNullable<AttributeCondition['channel']> {
  if (channel === undefined) throw new Error('the rule was not checked: subscribed has no channel')
  return channel
}
