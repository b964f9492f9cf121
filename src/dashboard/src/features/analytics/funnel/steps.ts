/** The steps of a funnel, and their format in the URL. */
import type { FunnelSearch, FunnelStep, Where } from '../search.ts'

export interface Step {
  event: string
  where: Where
}

export const stepsOf = ({ steps = [] }: FunnelSearch): Step[] =>
  steps.map((step) => (typeof step === 'string' ? { event: step, where: [] } : step))

export function toSearch(steps: readonly Step[]): FunnelStep[] | undefined {
  if (steps.length === 0) return undefined
  return steps.map(({ event, where }) => (where.length === 0 ? event : { event, where }))
}
