import type { Rule } from '../../rules/segments/rule.ts'
import { type Definitions, loadDefinitions } from '../../segments/load-definitions.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { readBranchFacts, testRule } from '../branch-rules.ts'
import type { VersionedRow } from './read-move-facts.ts'

export type TestRule = (rule: Rule, stepId: string) => boolean

/** The rules of branches, evaluated on what Postgres has of the contact now. By enrolment; those without branches have none. */
export async function readRuleTests(
  tx: Queryable,
  rows: readonly VersionedRow[],
  now: number,
): Promise<ReadonlyMap<string, TestRule>> {
  const known = new Map<string, Definitions>()
  const tests = new Map<string, TestRule>()
  for (const row of rows.filter(({ of }) => of.hasBranches)) {
    const definitions = known.get(row.businessId) ?? (await loadDefinitions(tx, row.businessId))
    known.set(row.businessId, definitions)
    const context = { definitions, now }
    const facts = await readBranchFacts(tx, row, row.of.definition.steps, context)
    if (facts) tests.set(row.enrolmentId, (rule) => testRule(rule, facts, context))
  }
  return tests
}
