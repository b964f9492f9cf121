import type { Rule } from '../../../rules/segments/rule.ts'

/** Attributes whose values do not say who or where exactly a person is. */
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

/** The rule without the texts that can be a person's: an address in a rule is as good as one in a list. */
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
