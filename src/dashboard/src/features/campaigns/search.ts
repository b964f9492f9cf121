/** What is in the URLs of the pages of campaigns. */
export const TABS = ['steps', 'enrolments', 'messages', 'simulate', 'backtest'] as const

export interface CampaignSearch {
  /** Default: the report. */
  tab?: (typeof TABS)[number]
  /** State of enrolments or messages. The lists ignore a value that is not one of their states. */
  state?: string
  /** First and last day of the enrolments in the report, as `YYYY-MM-DD` in the reader's zone. */
  from?: string
  to?: string
  /** ID of the backtest that is shown. */
  backtest?: string
}

const DAY = /^\d{4}-\d\d-\d\d$/

export function readCampaign({ tab, state, from, to, backtest }: Record<string, unknown>): CampaignSearch {
  const known = TABS.find((one) => one === tab)
  return {
    ...(known && { tab: known }),
    ...(typeof state === 'string' && { state }),
    ...(typeof from === 'string' && DAY.test(from) && { from }),
    ...(typeof to === 'string' && DAY.test(to) && { to }),
    ...(typeof backtest === 'string' && { backtest }),
  }
}
