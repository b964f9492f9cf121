/** The rules of branches, on what Postgres has of a contact. */
import { walkSteps } from '../rules/campaigns/steps.ts'
import type { Step } from '../rules/campaigns/steps.ts'
import { compileSegments } from '../rules/segments/compile-segments.ts'
import type { SegmentFacts } from '../rules/segments/facts.ts'
import { resolveRule } from '../rules/segments/resolve-rule.ts'
import type { Rule } from '../rules/segments/rule.ts'
import { windowsOf } from '../rules/segments/windows-of.ts'
import { type Definitions, rulesOf } from '../segments/load-definitions.ts'
import { readFacts } from '../segments/read-facts.ts'
import { readAnswers } from '../segments/windows/read-answers.ts'
import type { Queryable } from '../stores/postgres.ts'

/** Whether a rule is true of a contact at an instant. It names no segment that the business does not have. */
export function testRule(rule: Rule, facts: SegmentFacts, { definitions, now }: RuleContext): boolean {
  const compiled = { no: 0, segmentId: '', isBuilding: false, rule: resolve(rule, definitions) }
  const [segment] = compileSegments([compiled], definitions.fields).all
  return segment?.test(facts, now) ?? false
}

export interface RuleContext {
  definitions: Definitions
  now: number
}

/** What the branches of these steps read of a contact. Null when there is none. */
export async function readBranchFacts(
  tx: Queryable,
  { businessId, contactId }: { businessId: string; contactId: string },
  steps: readonly Step[],
  { definitions, now }: RuleContext,
): Promise<SegmentFacts | null> {
  const found = await readFacts(tx, businessId, contactId)
  if (found === null) return null
  const rules = walkSteps(steps).flatMap(({ step }) =>
    step.type === 'branch' ? [{ rule: resolve(step.rule, definitions), isBuilding: false }] : [],
  )
  const keys = [...windowsOf(rules).values()].map(({ key }) => key)
  if (keys.length === 0) return found.facts
  const { values: windows } = await readAnswers(tx, { businessId, contactId, keys, now })
  return { ...found.facts, windows }
}

const resolve = (rule: Rule, definitions: Definitions) =>
  resolveRule(rule, { ...definitions, segments: rulesOf(definitions) })
