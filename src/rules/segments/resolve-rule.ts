import type { IdentityKind } from '../events/facts.ts'
import { trimText } from '../events/text.ts'
import { readIdentity } from '../identity/identity.ts'
import type { TopicRules } from '../topics/topic.ts'
import { isWindowed } from './condition-kinds.ts'
import type {
  AttributeCondition,
  Condition,
  ResolvedCondition,
  ResolvedFactCondition,
  ResolvedRule,
  Rule,
  RuleValue,
  SegmentCondition,
} from './rule.ts'

export interface ResolveContext {
  /** The rules of the business's segments, by id. */
  segments: ReadonlyMap<string, Rule>
  /** The default currency of the business. */
  currency: string
  /** The country of the business, for national phone numbers. */
  country: string | null
  /** By key. Absent: the business has none. */
  topics?: ReadonlyMap<string, Pick<TopicRules, 'defaultOn'>>
}

/** Makes a checked rule depend only on the facts of a contact. See `ResolvedRule`. */
export function resolveRule(rule: Rule, context: ResolveContext): ResolvedRule {
  if ('all' in rule) return { all: rule.all.map((inner) => resolveRule(inner, context)) }
  if ('any' in rule) return { any: rule.any.map((inner) => resolveRule(inner, context)) }
  if ('not' in rule) return { not: resolveRule(rule.not, context) }
  return resolveCondition(rule, context)
}

function resolveCondition(condition: Condition, context: ResolveContext): ResolvedCondition {
  if ('segment' in condition) return { ...condition, rule: resolveSegment(condition, context) }
  const resolved = resolveFactCondition(condition, context)
  return JSON.stringify(resolved) === JSON.stringify(condition) ? resolved : { ...resolved, written: condition }
}

function resolveSegment({ segment }: SegmentCondition, context: ResolveContext): ResolvedRule {
  const rule = context.segments.get(segment)
  if (rule === undefined) throw new Error(`the rule names the segment ${segment}, which does not exist`)
  return resolveRule(rule, context)
}

function resolveFactCondition(
  condition: Exclude<Condition, SegmentCondition>,
  context: ResolveContext,
): ResolvedFactCondition {
  if ('event' in condition) {
    const named = { ...condition, event: trimText(condition.event) }
    const isOfMoney = isWindowed(named) && named.metric === 'sum' && named.property === 'value'
    return isOfMoney ? withCurrency(named, context) : named
  }
  if ('tag' in condition) return { ...condition, tag: trimText(condition.tag) }
  if ('attribute' in condition) return resolveAttribute(condition, context)
  return condition
}

function resolveAttribute(condition: AttributeCondition, context: ResolveContext): AttributeCondition {
  const { attribute, value } = condition
  if (attribute === 'revenue') return withCurrency(condition, context)
  // The default of a topic never changes.
  if (condition.topic !== undefined)
    return { ...condition, topicDefault: context.topics?.get(condition.topic)?.defaultOn ?? false }
  const isIdentity = attribute === 'email' || attribute === 'phone' || attribute === 'platformCustomerId'
  if (!isIdentity || value === undefined) return condition
  const isWhole = ['equals', 'not_equals', 'in'].includes(condition.operator)
  const resolve = (text: string): string =>
    isWhole ? normaliseIdentity(attribute, text, context.country) : normaliseFragment(attribute, text)
  return { ...condition, value: mapTexts(value, resolve) }
}

/** Currencies are stored trimmed and in upper case. */
function withCurrency<C extends { currency?: string }>(condition: C, { currency }: ResolveContext): C {
  return { ...condition, currency: trimText(condition.currency ?? currency).toUpperCase() }
}

function mapTexts(value: RuleValue, map: (text: string) => string): RuleValue {
  if (Array.isArray(value)) return value.map((text) => map(String(text)))
  return map(String(value))
}

/**
 * Normalises a text like the identity of a contact. A text that cannot be an identity stays unchanged: no contact has
 * it.
 */
function normaliseIdentity(kind: IdentityKind, text: string, country: string | null): string {
  return readIdentity({ [kind]: text }, country).identity?.[kind] ?? text
}

/** Normalises a part of an identity: emails are stored in lower case, phones as digits only. */
function normaliseFragment(kind: IdentityKind, text: string): string {
  if (kind === 'email') return text.toLowerCase()
  return (kind === 'phone' && text.replace(/\D/g, '')) || text
}
