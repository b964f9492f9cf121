import { formatNumber } from '../../../format.ts'
import { textsOf } from '../../../texts/index.ts'

/** When steps may occur in any order, a step has no event of its own. */
export const nameOfStep = (event: string | null, at: number): string =>
  event ?? textsOf('analytics').stepNumber(formatNumber(at + 1))
