/** The rule of a segment, as `POST /api/segments` accepts it (segments, "A rule"). `read-rule.ts` checks it. */

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

export const DATE_OPERATORS = [
  'exists',
  'not_exists',
  'within_days',
  'older_than_days',
  'before',
  'after',
  'within_next_days',
] as const
export const NUMBER_OPERATORS = [
  'equals',
  'not_equals',
  'greater_than',
  'greater_than_or_equal',
  'less_than',
  'less_than_or_equal',
  'between',
  'exists',
  'not_exists',
] as const
export const TEXT_OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'starts_with',
  'ends_with',
  'in',
  'exists',
  'not_exists',
] as const
export const BOOLEAN_OPERATORS = ['is_true', 'is_false', 'exists', 'not_exists'] as const
export const STAGE_OPERATORS = ['equals', 'not_equals', 'in', 'at_least', 'at_most'] as const
export const TAG_OPERATORS = ['has', 'has_not'] as const
export const SEGMENT_OPERATORS = ['is_member', 'is_not_member'] as const

export type DateOperator = (typeof DATE_OPERATORS)[number]
export type NumberOperator = (typeof NUMBER_OPERATORS)[number]
export type TextOperator = (typeof TEXT_OPERATORS)[number]
export type BooleanOperator = (typeof BOOLEAN_OPERATORS)[number]
export type StageOperator = (typeof STAGE_OPERATORS)[number]
export type TagOperator = (typeof TAG_OPERATORS)[number]
export type SegmentOperator = (typeof SEGMENT_OPERATORS)[number]

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

export const ATTRIBUTES = {
  firstName: 'text',
  lastName: 'text',
  country: 'text',
  city: 'text',
  language: 'text',
  timezone: 'text',
  email: 'texts',
  phone: 'texts',
  platformCustomerId: 'texts',
  stage: 'stage',
  revenue: 'number',
  orderCount: 'number',
  createdAt: 'date',
  subscribed: 'boolean',
} as const satisfies Record<string, AttributeType>
export type AttributeType = 'text' | 'texts' | 'stage' | 'number' | 'date' | 'boolean'
export type Attribute = keyof typeof ATTRIBUTES

export interface AttributeCondition {
  attribute: Attribute
  operator: TextOperator | NumberOperator | DateOperator | BooleanOperator | StageOperator
  value?: RuleValue
  ignoreCase?: boolean
  /** Only for `revenue`. */
  currency?: string
  /** Only for `subscribed`. */
  channel?: 'email' | 'sms' | 'whatsapp' | 'push'
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
