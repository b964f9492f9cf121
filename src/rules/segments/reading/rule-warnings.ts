import type { FieldType } from '../../events/facts.ts'
import { neededType } from '../grammar/operators.ts'
import type { Condition, Rule } from '../rule.ts'
import { walkConditions } from '../walk-conditions.ts'

export interface RuleWarning {
  path: string
  message: string
}

/** Warns about conditions on custom fields that were created later with a type that the condition does not need. */
export function ruleWarnings(rule: Rule, fields: ReadonlyMap<string, FieldType>, path = 'rule'): RuleWarning[] {
  const warnings: RuleWarning[] = []
  walkConditions<Condition>(rule, path, (condition, path) => {
    if (!('customField' in condition)) return
    const [type, needed] = [fields.get(condition.customField), neededType(condition)]
    if (type === undefined || needed === null || type === needed) return
    const field = `the custom field ${condition.customField} is of type ${type}, not ${needed}`
    warnings.push({ path: `${path}.operator`, message: `${path}.operator is never true: ${field}` })
  })
  return warnings
}
