import type { FieldType } from '../../events/facts.ts'
import { BOOLEAN_OPERATORS, DATE_OPERATORS, NUMBER_OPERATORS } from '../rule.ts'

/** Returns the type that a custom field must have for a condition on it; null when any type will do. */
export function neededType({ operator, value }: { operator: string; value?: unknown }): FieldType | null {
  if (operator === 'exists' || operator === 'not_exists') return null
  if (isOneOf(DATE_OPERATORS, operator)) return 'Date'
  if (isOneOf(BOOLEAN_OPERATORS, operator)) return 'Boolean'
  if (operator === 'equals' || operator === 'not_equals') return typeof value === 'number' ? 'Number' : 'Text'
  return isOneOf(NUMBER_OPERATORS, operator) ? 'Number' : 'Text'
}

const isOneOf = (operators: readonly string[], operator: string): boolean => operators.includes(operator)
