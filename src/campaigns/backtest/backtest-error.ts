/** Reason why a backtest has no result, in words for the person who started it. */
export class BacktestError extends Error {
  override name = 'BacktestError'
}
