/** Shown in place of a chart whose computation was cancelled. */
import type { UseQueryResult } from '@tanstack/react-query'
import { Button } from '../../parts/action/button.tsx'
import { Empty } from '../../parts/feedback/empty.tsx'
import { textsOf } from '../../texts/index.ts'

type State = Pick<UseQueryResult, 'data' | 'error' | 'isEnabled' | 'isPlaceholderData' | 'fetchStatus'>

/** True when the query has no answer for the current choices and does not wait for one. */
export const isCancelled = ({ data, error, isEnabled, isPlaceholderData, fetchStatus }: State): boolean =>
  isEnabled && error === null && fetchStatus === 'idle' && (data === undefined || isPlaceholderData)

export function Cancelled({ onRetry }: { onRetry: () => unknown }) {
  const texts = textsOf('analytics')
  const again = <Button onClick={() => void onRetry()}>{texts.computeAgain}</Button>
  return <Empty icon="chart" title={texts.cancelled} actions={again} />
}
