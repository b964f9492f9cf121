import type { Rule } from '../../../rules/segments/rule.ts'

/** Attributes whose values do not reveal who or exactly where a person is. */
const IMPERSONAL = new Set([
  'country',
  'language',
  'timezone',
  'stage',
  'revenue',
  'orderCount',
  'createdAt',
  'subscribed',
])
const HIDDEN = '…'

/** Returns the rule without texts that may be about a person: an address in a rule reveals as much as one in a list. */
export function hideValues(rule: Rule): Rule {
  if ('all' in rule) return { all: rule.all.map(hideValues) }
  if ('any' in rule) return { any: rule.any.map(hideValues) }
  if ('not' in rule) return { not: hideValues(rule.not) }
  if ('attribute' in rule) return IMPERSONAL.has(rule.attribute) ? rule : hideText(rule)
  if ('customField' in rule) return hideText(rule)
  if ('where' in rule && rule.where !== undefined) return { ...rule, where: rule.where.map(hideText) }
  return rule
}

export function hideText<Condition extends { value?: unknown }>(condition: Condition): Condition {
  const { value } = condition
  if (typeof value === 'string') return { ...condition, value: HIDDEN }
  return Array.isArray(value) && value.some((one) => typeof one === 'string')
    ? { ...condition, value: value.map(() => HIDDEN) }
    : condition
}
