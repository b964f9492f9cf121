/** The rule of a segment, as `POST /api/segments` accepts it (segments, "A rule"). `read-rule.ts` checks it. */
import type { Channel } from '../events/facts.ts'
import type { Attribute } from './grammar/attributes.ts'
import type { OperatorOf } from './grammar/operators.ts'

export type Rule = AllRule | AnyRule | NotRule | Condition
export interface AllRule {
  all: Rule[]
}
export interface AnyRule {
  any: Rule[]
}
export interface NotRule {
  not: Rule
}
export type Condition =
  | EventTimeCondition
  | EventCountCondition
  | WindowedCondition
  | CustomFieldCondition
  | TagCondition
  | AttributeCondition
  | SegmentCondition

export type DateOperator = OperatorOf<'date'>
export type NumberOperator = OperatorOf<'number'>
export type TextOperator = OperatorOf<'text'>
export type BooleanOperator = OperatorOf<'boolean'>
export type StageOperator = OperatorOf<'stage'>
export type TagOperator = OperatorOf<'tag'>
export type SegmentOperator = OperatorOf<'segment'>

/**
 * The value that an operator compares with: a number of days, an instant, a number, a range, a text or a list of texts.
 */
export type RuleValue = string | number | [from: RuleNumber, to: RuleNumber] | string[]
/** A decimal string is an exact amount of revenue. */
export type RuleNumber = number | string

export interface EventTimeCondition {
  event: string
  metric: 'last' | 'first'
  operator: DateOperator
  value?: RuleValue
}
export interface EventCountCondition {
  event: string
  metric: 'count'
  operator: NumberOperator
  value?: RuleValue
}
/** A condition with `withinDays`, `where` or the metric `sum`. It is evaluated from the timeline. */
export interface WindowedCondition {
  event: string
  metric: 'count' | 'sum'
  operator: NumberOperator
  value?: RuleValue
  withinDays?: number
  where?: PropertyCondition[]
  /** Sums only: the path of the property to add. */
  property?: string
  /** Only for sums of `value`. */
  currency?: string
}
export interface PropertyCondition {
  property: string
  operator: NumberOperator | TextOperator | BooleanOperator
  value?: RuleValue
  ignoreCase?: boolean
}
export interface CustomFieldCondition {
  customField: string
  operator: DateOperator | NumberOperator | TextOperator | BooleanOperator
  value?: RuleValue
  ignoreCase?: boolean
}
export interface TagCondition {
  tag: string
  operator: TagOperator
}

export interface AttributeCondition {
  attribute: Attribute
  operator: TextOperator | NumberOperator | DateOperator | BooleanOperator | StageOperator
  value?: RuleValue
  ignoreCase?: boolean
  /** Only for `revenue`. */
  currency?: string
  /** Only for `subscribed`. */
  channel?: Channel
  /** Only for `subscribed`: the key of a topic that has the channel. */
  topic?: string
  /** In a resolved rule with a topic: whether a contact without a choice gets it. */
  topicDefault?: boolean
}
export interface SegmentCondition {
  segment: string
  operator: SegmentOperator
}

/**
 * A rule in the form that is evaluated: a condition on another segment contains that segment's rule, conditions on
 * revenue name their currency, and identity values are normalised like those of contacts. `resolve-rule.ts` creates it.
 */
export type ResolvedRule = { all: ResolvedRule[] } | { any: ResolvedRule[] } | { not: ResolvedRule } | ResolvedCondition
export type ResolvedCondition = ResolvedFactCondition | ResolvedSegmentCondition
/** `written` is the condition as its author wrote it, if that differs: `explain` shows it. */
export type ResolvedFactCondition = Exclude<Condition, SegmentCondition> & { written?: Condition }
export type ResolvedSegmentCondition = SegmentCondition & { rule: ResolvedRule }
