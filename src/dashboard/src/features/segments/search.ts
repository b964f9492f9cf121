/** What is in the URLs of the pages of segments. */
export const PERIODS = [30, 90, 365] as const
export type Period = (typeof PERIODS)[number]

export interface SegmentSearch {
  tab?: 'changes' | 'why'
  /** Days in the chart. Default: 30. */
  days?: Period
  /** Contact whose membership is explained. */
  contact?: string
}

export function readSegment({ tab, days, contact }: Record<string, unknown>): SegmentSearch {
  const period = PERIODS.find((one) => one === days)
  return {
    ...((tab === 'changes' || tab === 'why') && { tab }),
    ...(period !== undefined && { days: period }),
    ...(typeof contact === 'string' && { contact }),
  }
}
