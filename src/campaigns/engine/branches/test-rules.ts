import type { SegmentFacts } from '../../../rules/segments/membership/facts.ts'
import type { Rule } from '../../../rules/segments/rule.ts'
import { type Definitions, loadDefinitions } from '../../../segments/load-definitions.ts'
import { readFacts } from '../../../segments/read-facts.ts'
import type { Queryable } from '../../../stores/postgres.ts'
import { type BranchAnswers, readAnswered, windowsOfRules } from '../../branch-answers.ts'
import { type RuleContext, testRule } from '../../branch-rules.ts'
import type { VersionedRow } from '../claim/read-move-facts.ts'

/** Null: the timeline has to be queried for the counts of the rule. */
export type TestRule = (rule: Rule, stepId: string) => boolean | null

/**
 * Evaluates the rules of branches on the present data in Postgres and on the answers of the timeline. By enrolment;
 * enrolments without branches have no entry.
 */
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
    const found = await readFacts(tx, row.businessId, row.contactId)
    if (found === null) continue
    const context = { definitions, now }
    tests.set(row.enrolmentId, (rule) => testBranch(rule, found.facts, row.answers ?? {}, context))
  }
  return tests
}

function testBranch(rule: Rule, facts: SegmentFacts, answers: BranchAnswers, context: RuleContext): boolean | null {
  const windows = readAnswered(windowsOfRules([rule], context.definitions), answers)
  return windows === null ? null : testRule(rule, { ...facts, windows }, context)
}
