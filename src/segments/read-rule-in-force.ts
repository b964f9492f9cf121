import type { FieldType } from '../rules/events/facts.ts'
import { resolveRule } from '../rules/segments/resolve-rule.ts'
import type { ResolvedRule } from '../rules/segments/rule.ts'
import type { Sql } from '../stores/postgres.ts'
import { loadDefinitions, rulesOf } from './load-definitions.ts'

export interface RuleInForce {
  rule: ResolvedRule
  /** Custom fields of the business. */
  fields: ReadonlyMap<string, FieldType>
}

/**
 * Returns the rule that decides membership or, while a new segment has none, the rule that is being built. Null when
 * the business has no such segment.
 */
export async function readRuleInForce(sql: Sql, businessId: string, segmentId: string): Promise<RuleInForce | null> {
  const definitions = await loadDefinitions(sql, businessId)
  const { segments, fields, currency, country, topics } = definitions
  const definition = segments.find(({ id }) => id === segmentId)
  if (definition === undefined) return null
  const [current] = await sql<{ rule: ResolvedRule }[]>`
    select rule from segment_rules
    where business_id = ${businessId} and segment_id = ${segmentId} and state = 'current'`
  const context = { segments: rulesOf(definitions), currency, country, topics }
  return { rule: current?.rule ?? resolveRule(definition.rule, context), fields }
}
