import type { FieldType } from '../../events/facts.ts'
import type { Fault } from '../../faults.ts'
import { hasMoreBytes, hasMoreValues } from '../../events/text.ts'
import { checkNesting } from './check-nesting.ts'
import { checkNode } from './read-node.ts'
import { type Reading, fault } from './reading.ts'
import type { Rule } from '../rule.ts'
import type { TopicRules } from '../../topics/topic.ts'

/** Maximum bytes of compact JSON in UTF-8. */
const MAX_BYTES = 32 * 1024

export interface RuleContext {
  /** The custom fields of the business. */
  fields: ReadonlyMap<string, FieldType>
  /** The rules of the business's segments, by id. */
  segments: ReadonlyMap<string, Rule>
  /** The topics of the business, by key. Absent: it has none. */
  topics?: ReadonlyMap<string, TopicRules>
  /** The id of the segment that is edited. */
  self?: string
}

/**
 * Checks a rule (segments, "A rule"). Returns the rule as it was written, without optional keys that are null, or at
 * most 20 faults.
 */
export function readRule(raw: unknown, context: RuleContext, path = 'rule'): { rule: Rule } | { faults: Fault[] } {
  const reading = startReading(context.fields, context.topics ?? new Map())
  const rule = checkRule(reading, raw, path)
  if (rule) checkNesting(reading, rule, path, context.segments, context.self)
  return rule && reading.faults.length === 0 ? { rule } : { faults: reading.faults }
}

/** Like `readRule`, but does not check the segments and topics that the rule names: they may not exist. */
export function readRuleForm(
  raw: unknown,
  fields: RuleContext['fields'],
  path: string,
): { rule: Rule } | { faults: Fault[] } {
  const reading = startReading(fields, null)
  const rule = checkRule(reading, raw, path)
  return rule ? { rule } : { faults: reading.faults }
}

const startReading = (fields: RuleContext['fields'], topics: Reading['topics']): Reading => ({
  faults: [],
  fields,
  topics,
  conditions: 0,
  segments: [],
})

function checkRule(reading: Reading, raw: unknown, path: string): Rule | undefined {
  // This many values have more bytes than the limit. They are not visited: deeply nested JSON cannot be written as
  // text.
  if (hasMoreValues(raw, MAX_BYTES / 2)) fault(reading, path, 'json_size')
  else checkNode(reading, raw, path, 1)
  if (reading.faults.length > 0) return undefined
  const json = JSON.stringify(raw)
  if (hasMoreBytes(json, MAX_BYTES)) {
    fault(reading, path, 'json_size')
    return undefined
  }
  // The checks above cover everything that a rule may contain.
  return JSON.parse(json, (_, value: unknown) => value ?? undefined) as Rule
}
