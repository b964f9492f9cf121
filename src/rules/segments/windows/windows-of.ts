import { isWindowed } from '../condition-kinds.ts'
import { factConditionsOf } from '../membership/reads-of.ts'
import type { ResolvedRule, WindowedCondition } from '../rule.ts'
import { windowKey } from './window-key.ts'

/** A count or a sum of the timeline. */
export interface Window {
  key: string
  /** One of the conditions that read the window. Others may compare it with other values. */
  condition: WindowedCondition
  /**
   * True when only rules that are being built read it. Until the pass over all contacts is complete, some have no
   * answer.
   */
  isBuilding: boolean
}

/** Returns the counts and sums that rules read, by key. */
export function windowsOf(rules: readonly { rule: ResolvedRule; isBuilding: boolean }[]): Map<string, Window> {
  const windows = new Map<string, Window>()
  for (const { rule, isBuilding } of rules)
    for (const condition of windowedConditionsOf(rule)) {
      const key = windowKey(condition)
      const known = windows.get(key)
      if (known) known.isBuilding &&= isBuilding
      else windows.set(key, { key, condition, isBuilding })
    }
  return windows
}

export function windowedConditionsOf(rule: ResolvedRule): WindowedCondition[] {
  return factConditionsOf(rule).flatMap((condition) => (isWindowed(condition) ? [condition] : []))
}
