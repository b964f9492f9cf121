import type { Condition, WindowedCondition } from './rule.ts'

/** Returns whether a condition is evaluated from the timeline. */
export function isWindowed(condition: Condition): condition is WindowedCondition {
  if (!('event' in condition)) return false
  if (condition.metric === 'sum') return true
  const { withinDays, where }: Windowing = condition
  return withinDays !== undefined || where !== undefined
}

type Windowing = { event: string } & Partial<Pick<WindowedCondition, 'withinDays' | 'where'>>
