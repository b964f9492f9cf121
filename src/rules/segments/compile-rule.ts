import type { FieldType } from '../events/facts.ts'
import { compileCondition } from './compile-condition.ts'
import type { SegmentFacts, TimeKey } from './facts.ts'
import { timeKeyOf } from './reads-of.ts'
import type { ResolvedFactCondition, ResolvedRule } from './rule.ts'

export type Test = (facts: SegmentFacts, now: number) => boolean

/** A condition whose answer can change through time alone. */
export interface TimedCondition {
  /** The fact that determines the instants. */
  key: TimeKey
  test: Test
  /** Returns the only instants at which the answer changes. */
  changes(facts: SegmentFacts): number[]
}

export interface CompiledRule {
  test: Test
  /** Includes the conditions of inner segments. */
  timed: TimedCondition[]
}

export function compileRule(rule: ResolvedRule, fields: ReadonlyMap<string, FieldType>): CompiledRule {
  const timed: TimedCondition[] = []
  return { test: compile(rule, fields, timed), timed }
}

type FieldTypes = ReadonlyMap<string, FieldType>

function compile(rule: ResolvedRule, fields: FieldTypes, timed: TimedCondition[]): Test {
  if ('all' in rule) return allOf(rule.all.map((inner) => compile(inner, fields, timed)))
  if ('any' in rule) return anyOf(rule.any.map((inner) => compile(inner, fields, timed)))
  if ('not' in rule) return negate(compile(rule.not, fields, timed))
  if ('segment' in rule) {
    const test = compile(rule.rule, fields, timed)
    return rule.operator === 'is_member' ? test : negate(test)
  }
  return compileLeaf(rule, fields, timed)
}

function compileLeaf(condition: ResolvedFactCondition, fields: FieldTypes, timed: TimedCondition[]): Test {
  const { test, changes } = compileCondition(condition, fields)
  if (changes) timed.push({ key: timeKeyOf(condition), test, changes })
  return test
}

const negate =
  (test: Test): Test =>
  (facts, now) =>
    !test(facts, now)

function allOf(tests: Test[]): Test {
  return (facts, now) => {
    for (const test of tests) if (!test(facts, now)) return false
    return true
  }
}

function anyOf(tests: Test[]): Test {
  return (facts, now) => {
    for (const test of tests) if (test(facts, now)) return true
    return false
  }
}
