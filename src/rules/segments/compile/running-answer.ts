/** The answer of a rule while single conditions change: each change costs one test and a few steps through the rule. */
import type { SegmentFacts } from '../membership/facts.ts'

export type Test = (facts: SegmentFacts, now: number) => boolean

/** A group of a rule. It is true when at least `least` of its parts are true; if `isNegated`, when fewer are. */
export interface Gate {
  /** Place of the group that it is a part of. Outer groups come first. Null for the rule itself, which is the first. */
  outer: number | null
  least: number
  isNegated: boolean
}

/** A condition, with the place of its group. */
export interface Leaf {
  test: Test
  gate: number
}

export interface RuleParts {
  gates: readonly Gate[]
  leaves: readonly Leaf[]
}

export interface RunningAnswer {
  is(): boolean
  /** Evaluates one condition again. */
  update(leaf: number, now: number): void
}

/** Evaluates every condition once. */
export function openAnswer({ gates, leaves }: RuleParts, facts: SegmentFacts, now: number): RunningAnswer {
  const holds = leaves.map(({ test }) => test(facts, now))
  /** Number of parts that are true, by gate. */
  const counts = gates.map(() => 0)
  const isTrue = (gate: number): boolean => {
    const { least, isNegated } = gates[gate]!
    return counts[gate]! >= least !== isNegated
  }
  leaves.forEach(({ gate }, leaf) => {
    if (holds[leaf]) counts[gate]! += 1
  })
  for (let gate = gates.length - 1; gate > 0; gate -= 1) if (isTrue(gate)) counts[gates[gate]!.outer!]! += 1
  return {
    is: () => isTrue(0),
    update(leaf, now) {
      const { test, gate: own } = leaves[leaf]!
      const is = test(facts, now)
      if (is === holds[leaf]) return
      holds[leaf] = is
      let change = is ? 1 : -1
      for (let gate: number | null = own; gate !== null; gate = gates[gate]!.outer) {
        const was = isTrue(gate)
        counts[gate]! += change
        if (isTrue(gate) === was) return
        change = was ? -1 : 1
      }
    },
  }
}
