/**
 * Evaluates a rule as written, by the shortest code that the contract allows. The compiled rules must give the same
 * results.
 */
import { Temporal } from 'temporal-polyfill'
import type { FieldType } from '../../../src/rules/events/facts.ts'
import { STAGES } from '../../../src/rules/events/journey-stage.ts'
import type { SegmentFacts } from '../../../src/rules/segments/membership/facts.ts'
import type { AttributeCondition, Condition, CustomFieldCondition, Rule } from '../../../src/rules/segments/rule.ts'

export interface NaiveWorld {
  segments: ReadonlyMap<string, Rule>
  fields: ReadonlyMap<string, FieldType>
  currency: string
  /** Those that contacts without a choice get. */
  topicsByDefault?: readonly string[]
  /** The value of a windowed condition; undefined when there is none. */
  windowOf(condition: Condition, facts: SegmentFacts): string | undefined
}

export function naive(rule: Rule, world: NaiveWorld, facts: SegmentFacts, now: number): boolean {
  const answer = (inner: Rule): boolean => naive(inner, world, facts, now)
  if ('all' in rule) return rule.all.filter((inner) => !answer(inner)).length === 0
  if ('any' in rule) return rule.any.filter(answer).length > 0
  if ('not' in rule) return !answer(rule.not)
  if ('segment' in rule) {
    const inner = world.segments.get(rule.segment)
    return inner !== undefined && answer(inner) === (rule.operator === 'is_member')
  }
  if ('tag' in rule) return facts.tags.has(rule.tag) === (rule.operator === 'has')
  const values = valuesOf(rule, world, facts)
  if (rule.operator === 'not_exists') return values.length === 0
  if (values.length === 0) return false
  if (rule.operator === 'exists') return true
  if (rule.operator === 'not_equals') return values.every((value) => !fits(rule, 'equals', value, now))
  return values.some((value) => fits(rule, rule.operator, value, now))
}

type Value =
  | { date: number; mayBeAhead: boolean }
  | { decimal: string }
  | { text: string }
  | { is: boolean }
  | { stage: number }

function valuesOf(condition: Condition, world: NaiveWorld, facts: SegmentFacts): Value[] {
  if ('event' in condition) {
    if ('withinDays' in condition || 'where' in condition || condition.metric === 'sum') {
      const decimal = world.windowOf(condition, facts)
      return decimal === undefined ? [] : [{ decimal }]
    }
    const statistic = facts.statistics.get(condition.event)
    if (!statistic) return []
    if (condition.metric === 'count') return [{ decimal: String(statistic.count) }]
    return [{ date: condition.metric === 'last' ? statistic.lastAt : statistic.firstAt, mayBeAhead: false }]
  }
  if ('customField' in condition) return fieldOf(condition, world, facts)
  return 'attribute' in condition ? attributeOf(condition, world, facts) : []
}

function fieldOf(condition: CustomFieldCondition, world: NaiveWorld, facts: SegmentFacts): Value[] {
  const json = facts.traits.get(condition.customField)?.[1] ?? null
  if (json === null) return []
  const value = JSON.parse(json) as string | number | boolean
  const { operator } = condition
  const type = world.fields.get(condition.customField)
  if (operator === 'exists' || operator === 'not_exists') return [{ text: '' }]
  if (type === 'Number')
    return isOfNumbers(operator) && typeof condition.value !== 'string' ? [{ decimal: String(value) }] : []
  if (type === 'Boolean') return operator.startsWith('is_') ? [{ is: value === true }] : []
  if (type === 'Text')
    return isOfTexts(operator) && typeof condition.value !== 'number' ? [{ text: String(value) }] : []
  if (!/days|before|after/.test(operator)) return []
  const text = String(value)
  const instant = Temporal.Instant.from(text.includes('T') ? text : `${text}T00:00Z`)
  return [{ date: instant.epochMilliseconds, mayBeAhead: true }]
}

const isOfNumbers = (operator: string): boolean => /equal|than$|between/.test(operator)
const isOfTexts = (operator: string): boolean => /equals|contains|with$|^in$/.test(operator)

function attributeOf(condition: AttributeCondition, world: NaiveWorld, facts: SegmentFacts): Value[] {
  const { attribute } = condition
  switch (attribute) {
    case 'createdAt':
      return [{ date: facts.createdAt, mayBeAhead: false }]
    case 'stage':
      return [{ stage: facts.stage }]
    case 'orderCount':
      return [{ decimal: String(facts.orderCount) }]
    case 'subscribed':
      return [{ is: isSubscribed(condition, world, facts) }]
    case 'revenue': {
      const decimal = facts.revenue.get((condition.currency ?? world.currency).toUpperCase())
      return decimal === undefined ? [] : [{ decimal }]
    }
    case 'email':
    case 'phone':
    case 'platformCustomerId':
      return facts.identities.filter(({ kind }) => kind === attribute).map(({ value }) => ({ text: value }))
    default: {
      const text = facts.profile[attribute]
      return text === undefined ? [] : [{ text }]
    }
  }
}

function fits(condition: Exclude<Condition, { tag: string }>, operator: string, value: Value, now: number): boolean {
  const given = 'value' in condition ? condition.value : undefined
  if ('date' in value) return fitsDate(operator, given, value, BigInt(now))
  if ('decimal' in value) {
    const [from = '', to = from] = (Array.isArray(given) ? given : [given]).map(String)
    return fitsNumber(operator, order(value.decimal, from), order(value.decimal, to))
  }
  if ('is' in value) return value.is === (operator === 'is_true')
  if ('stage' in value) {
    const stages = (Array.isArray(given) ? given : [given]).map((name) => STAGES.findIndex((stage) => stage === name))
    if (operator === 'at_least') return value.stage >= (stages[0] ?? 9)
    return operator === 'at_most' ? value.stage <= (stages[0] ?? -1) : stages.includes(value.stage)
  }
  return fitsText(condition, operator, value.text, Array.isArray(given) ? given.map(String) : [String(given)])
}

function fitsDate(
  operator: string,
  given: unknown,
  value: { date: number; mayBeAhead: boolean },
  now: bigint,
): boolean {
  const at = BigInt(value.date)
  if (operator === 'before') return value.date < Date.parse(String(given))
  if (operator === 'after') return value.date > Date.parse(String(given))
  // Both sides are multiplied by 10^30, so that n days are a whole number.
  const days = scaled(String(given)) * 86_400_000n
  const within = (at - now) * TEN_30 >= -days
  if (operator === 'older_than_days') return !within
  if (operator === 'within_next_days') return at >= now && (at - now) * TEN_30 <= days
  return within && (!value.mayBeAhead || at <= now)
}

const TEN_30 = 10n ** 30n

/** Parses a decimal text, multiplied by 10^30. */
function scaled(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const size = BigInt(whole.replace('-', '') + fraction) * 10n ** BigInt(30 - fraction.length + Number(exponent))
  return text.startsWith('-') ? -size : size
}

/** Compares two decimals: -1, 0 or 1. */
export const order = (a: string, b: string): number => Number(scaled(a) > scaled(b)) - Number(scaled(a) < scaled(b))

function fitsNumber(operator: string, toFrom: number, toTo: number): boolean {
  switch (operator) {
    case 'equals':
      return toFrom === 0
    case 'greater_than':
      return toFrom > 0
    case 'greater_than_or_equal':
      return toFrom >= 0
    case 'less_than':
      return toFrom < 0
    case 'less_than_or_equal':
      return toFrom <= 0
    default:
      return toFrom >= 0 && toTo <= 0
  }
}

function fitsText(condition: Condition, operator: string, text: string, given: string[]): boolean {
  const ignoresCase = 'ignoreCase' in condition && condition.ignoreCase === true
  const small = (text: string): string =>
    ignoresCase
      ? text
          .split('')
          .map((sign) => (sign >= 'A' && sign <= 'Z' ? sign.toLowerCase() : sign))
          .join('')
      : text
  const normal = (text: string): string => small(normalised(condition, operator, text))
  return given.some((one) => {
    if (operator === 'contains') return small(text).includes(normal(one))
    if (operator === 'starts_with') return small(text).startsWith(normal(one))
    if (operator === 'ends_with') return small(text).endsWith(normal(one))
    return small(text) === normal(one)
  })
}

/** Normalises the identities that the generated rules name: emails, phones with a country code, customer ids. */
function normalised(condition: Condition, operator: string, text: string): string {
  const kind = 'attribute' in condition ? condition.attribute : null
  const isWhole = operator === 'equals' || operator === 'in'
  if (kind === 'email') return (isWhole ? text.trim() : text).toLowerCase()
  if (kind === 'phone') return text.replace(/[^0-9]/g, '') || text
  return kind === 'platformCustomerId' && isWhole ? text.trim() : text
}

function isSubscribed(
  { channel = 'email', topic }: AttributeCondition,
  { topicsByDefault = [] }: NaiveWorld,
  facts: SegmentFacts,
): boolean {
  const hasOptIn = facts.subscriptions[channel]?.subscribed ?? false
  if (topic === undefined) return hasOptIn
  const choice = facts.topics[`${topic} ${channel}`]
  return hasOptIn && (choice === undefined ? topicsByDefault.includes(topic) : choice.subscribed)
}
