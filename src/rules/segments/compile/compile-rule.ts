import type { FieldType } from '../../events/facts.ts'
import { compileCondition } from './compile-condition.ts'
import type { SegmentFacts, TimeKey } from '../membership/facts.ts'
import { timeKeyOf } from '../membership/reads-of.ts'
import type { ResolvedFactCondition, ResolvedRule } from '../rule.ts'
import type { Gate, Leaf, RuleParts, Test } from './running-answer.ts'

/** A condition whose answer can change through time alone. */
export interface TimedCondition {
  /** The fact that determines the instants. */
  key: TimeKey
  test: Test
  /** Returns the only instants at which the answer changes. */
  changes(facts: SegmentFacts): number[]
  /** Its place among the parts of the rule. */
  leaf: number
}

export interface CompiledRule {
  test: Test
  /** Includes the conditions of inner segments. */
  timed: TimedCondition[]
  /** Groups and conditions, including those of inner segments. */
  parts: RuleParts
}

interface Compiling {
  fields: ReadonlyMap<string, FieldType>
  timed: TimedCondition[]
  gates: Gate[]
  leaves: Leaf[]
}

export function compileRule(rule: ResolvedRule, fields: ReadonlyMap<string, FieldType>): CompiledRule {
  const compiling: Compiling = { fields, timed: [], gates: [{ outer: null, least: 1, isNegated: false }], leaves: [] }
  const { timed, gates, leaves } = compiling
  return { test: compile(rule, compiling, 0), timed, parts: { gates, leaves } }
}

/** `outer`: place of the group that the rule is a part of. */
function compile(rule: ResolvedRule, compiling: Compiling, outer: number): Test {
  if ('all' in rule)
    return allOf(compileGroup(rule.all, compiling, { outer, least: rule.all.length, isNegated: false }))
  if ('any' in rule) return anyOf(compileGroup(rule.any, compiling, { outer, least: 1, isNegated: false }))
  if ('not' in rule) return noneOf(compileGroup([rule.not], compiling, { outer, least: 1, isNegated: true }))
  if (!('segment' in rule)) return compileLeaf(rule, compiling, outer)
  if (rule.operator === 'is_member') return compile(rule.rule, compiling, outer)
  return noneOf(compileGroup([rule.rule], compiling, { outer, least: 1, isNegated: true }))
}

function compileGroup(rules: readonly ResolvedRule[], compiling: Compiling, gate: Gate): Test[] {
  const place = compiling.gates.push(gate) - 1
  return rules.map((inner) => compile(inner, compiling, place))
}

function compileLeaf(condition: ResolvedFactCondition, { fields, timed, leaves }: Compiling, gate: number): Test {
  const { test, changes } = compileCondition(condition, fields)
  const leaf = leaves.push({ test, gate }) - 1
  if (changes) timed.push({ key: timeKeyOf(condition), test, changes, leaf })
  return test
}

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

function noneOf(tests: Test[]): Test {
  return (facts, now) => {
    for (const test of tests) if (test(facts, now)) return false
    return true
  }
}
