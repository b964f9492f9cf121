/** What other features may use of this one. */
export { CohortTable } from './cohort-table.tsx'
export { formatStart } from './format-start.ts'
export { nameOfStep } from './funnel/name-of-step.ts'
export { chartErrorText, retryWhenBusy } from './queries.ts'
export { rangeOf, shownTime } from './range.ts'
export type { Days, Interval } from './search.ts'
export { SmallTable } from './small-table.tsx'
