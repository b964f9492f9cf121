import { compileSegments } from '../../rules/segments/compile-segments.ts'
import { resolveRule } from '../../rules/segments/resolve-rule.ts'
import type { Rule } from '../../rules/segments/rule.ts'
import { windowsOf } from '../../rules/segments/windows-of.ts'
import { type Definitions, loadDefinitions, rulesOf } from '../../segments/load-definitions.ts'
import { readFacts } from '../../segments/read-facts.ts'
import { readAnswers } from '../../segments/windows/read-answers.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { walkSteps } from '../../rules/campaigns/steps.ts'
import type { VersionedRow } from './read-move-facts.ts'

export type TestRule = (rule: Rule, stepId: string) => boolean

/** The rules of branches, evaluated on what Postgres has of the contact now. By enrolment; those without branches have none. */
export async function readRuleTests(
  tx: Queryable,
  rows: readonly VersionedRow[],
  now: number,
): Promise<ReadonlyMap<string, TestRule>> {
  const definitions = new Map<string, Definitions>()
  const tests = new Map<string, TestRule>()
  for (const row of rows.filter(({ of }) => of.hasBranches)) {
    const known = definitions.get(row.businessId) ?? (await loadDefinitions(tx, row.businessId))
    definitions.set(row.businessId, known)
    const test = await readTest(tx, row, known, now)
    if (test) tests.set(row.enrolmentId, test)
  }
  return tests
}

async function readTest(
  tx: Queryable,
  { businessId, contactId, of }: VersionedRow,
  definitions: Definitions,
  now: number,
): Promise<TestRule | null> {
  const found = await readFacts(tx, businessId, contactId)
  if (found === null) return null
  const resolve = (rule: Rule) => resolveRule(rule, { ...definitions, segments: rulesOf(definitions) })
  const rules = walkSteps(of.definition.steps).flatMap(({ step }) =>
    step.type === 'branch' ? [{ rule: resolve(step.rule), isBuilding: false }] : [],
  )
  const keys = [...windowsOf(rules).values()].map(({ key }) => key)
  const windows =
    keys.length === 0 ? new Map<string, string>() : (await readAnswers(tx, { businessId, contactId, keys, now })).values
  return (rule) => {
    const compiled = { no: 0, segmentId: '', isBuilding: false, rule: resolve(rule) }
    const [segment] = compileSegments([compiled], definitions.fields).all
    return segment?.test({ ...found.facts, windows }, now) ?? false
  }
}
