import type { FieldType } from '../events/facts.ts'
import type { Fault } from '../faults.ts'
import { hasMoreBytes, hasMoreValues } from '../events/text.ts'
import { checkNesting } from './check-nesting.ts'
import { checkNode } from './read-node.ts'
import { type Reading, fault } from './reading.ts'
import type { Rule } from './rule.ts'

/** Of compact JSON in UTF-8. */
const MAX_BYTES = 32 * 1024

export interface RuleContext {
  /** The business's custom fields. */
  fields: ReadonlyMap<string, FieldType>
  /** The rules of the business's segments, by id. */
  segments: ReadonlyMap<string, Rule>
  /** The id of the segment that is edited. */
  self?: string
}

/**
 * Checks a rule (segments, "A rule"). It is returned as it was written, without optional words that are null. There are at most
 * 20 faults.
 */
export function readRule(raw: unknown, context: RuleContext, path = 'rule'): { rule: Rule } | { faults: Fault[] } {
  const reading = startReading(context.fields)
  const rule = checkRule(reading, raw, path)
  if (rule) checkNesting(reading, rule, path, context.segments, context.self)
  return rule && reading.faults.length === 0 ? { rule } : { faults: reading.faults }
}

/** As `readRule`, but what the segments that it names are is not checked: they may not exist. */
export function readRuleForm(
  raw: unknown,
  fields: RuleContext['fields'],
  path: string,
): { rule: Rule } | { faults: Fault[] } {
  const reading = startReading(fields)
  const rule = checkRule(reading, raw, path)
  return rule ? { rule } : { faults: reading.faults }
}

const startReading = (fields: RuleContext['fields']): Reading => ({ faults: [], fields, conditions: 0, segments: [] })

function checkRule(reading: Reading, raw: unknown, path: string): Rule | undefined {
  // That many values have more bytes. They are not visited: JSON that is nested very deep cannot be written as text.
  if (hasMoreValues(raw, MAX_BYTES / 2)) fault(reading, path, 'json_size')
  else checkNode(reading, raw, path, 1)
  if (reading.faults.length > 0) return undefined
  const json = JSON.stringify(raw)
  if (hasMoreBytes(json, MAX_BYTES)) {
    fault(reading, path, 'json_size')
    return undefined
  }
  // Everything that a rule may be was checked above.
  return JSON.parse(json, (_, value: unknown) => value ?? undefined) as Rule
}
