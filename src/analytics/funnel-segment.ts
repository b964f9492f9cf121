/** The contacts who dropped out of a funnel, as a rule of a segment. */
import { MAX_DAYS } from '../rules/segments/grammar/limits.ts'
import type { Rule, WindowedCondition } from '../rules/segments/rule.ts'
import type { FunnelQuery } from './funnel-sql.ts'

export interface DroppedRule {
  rule: Rule
  /**
   * True when the rule matches exactly those who have dropped out at the instant `now`. Otherwise it ignores the order
   * and the window.
   */
  isExact: boolean
}

const DAY_MS = 86_400_000
/** With more combinations of steps, the rule would be too long for a person to read. */
const MAX_COMBINATIONS = 10

/**
 * Returns a rule for the contacts who did this step and not the next one. A rule looks back from now, so there is none
 * when the period ended earlier.
 * @param step from 1; not the last
 * @param now epoch milliseconds
 */
export function droppedRule(query: FunnelQuery, step: number, now: number): DroppedRule | null {
  const { steps, order, windowMs, period } = query
  const span = now - period.from
  if (period.to < now || span <= 0 || span > MAX_DAYS * DAY_MS) return null
  if (order !== 'any') return { rule: inOrderRule(steps, step, Math.ceil(span / DAY_MS)), isExact: false }
  // Within the whole period, only the number of steps that a contact did matters.
  const isExact = windowMs >= span
  const withinDays = isExact ? span / DAY_MS : Math.ceil(span / DAY_MS)
  const chosen = combinations(steps, step)
  if (chosen === null) return null
  const rules = chosen.map((done): Rule => {
    const left = steps.filter((one) => !done.includes(one))
    return { all: [...done.map((one) => did(one, 1, withinDays)), ...left.map((one) => not(did(one, 1, withinDays)))] }
  })
  return { rule: { any: rules }, isExact }
}

type Step = FunnelQuery['steps'][number]

/** A step that is repeated must have been done as often. */
function inOrderRule(steps: readonly Step[], step: number, withinDays: number): Rule {
  const often = (those: readonly Step[], one: Step): number =>
    those.filter((other) => JSON.stringify(other) === JSON.stringify(one)).length
  const done = steps.slice(0, step)
  const distinct = done.filter((one, place) => often(done.slice(0, place), one) === 0)
  const next = steps[step] as Step
  return {
    all: [
      ...distinct.map((one) => did(one, often(done, one), withinDays)),
      not(did(next, often(done, next) + 1, withinDays)),
    ],
  }
}

const not = (rule: Rule): Rule => ({ not: rule })

const did = ({ event, where }: Step, value: number, withinDays: number): WindowedCondition => ({
  event,
  metric: 'count',
  operator: 'greater_than_or_equal',
  value,
  withinDays,
  ...(where.length > 0 && { where: [...where] }),
})

/** Null if there are too many. */
function combinations(steps: readonly Step[], size: number): Step[][] | null {
  let found: Step[][] = [[]]
  for (const step of steps) found = [...found, ...found.filter((one) => one.length < size).map((one) => [...one, step])]
  found = found.filter((one) => one.length === size)
  return found.length <= MAX_COMBINATIONS ? found : null
}
