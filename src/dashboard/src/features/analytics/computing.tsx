/**
 * Progress of the chart that the page has been waiting for the longest, after a second, and a button that cancels all
 * slow charts.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import { formatNumber } from '../../format.ts'
import { Button } from '../../parts/action/button.tsx'
import { useBusiness } from '../../session/session.ts'
import { slowCharts } from '../../slow-charts.ts'
import { useStore } from '../../store.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './analytics.module.css'

const AGAIN_MS = 500

export function Computing() {
  const [chartId] = useStore(slowCharts)
  return chartId !== undefined && <Progress key={chartId} chartId={chartId} />
}

function Progress({ chartId }: { chartId: string }) {
  const texts = textsOf('analytics')
  const client = useQueryClient()
  const { id: businessId } = useBusiness()
  const { data } = useQuery({
    queryKey: ['chart-progress', businessId, chartId],
    queryFn: ({ signal }) =>
      take(
        api.GET('/dashboard/api/b/{businessId}/analytics/progress/{chartId}', {
          params: { path: { businessId, chartId } },
          signal,
        }),
      ),
    refetchInterval: AGAIN_MS,
    retry: false,
    gcTime: 0,
  })
  const found = data?.progress ?? null
  // A query that has just begun does not know yet how much it reads.
  const progress = found !== null && found.totalRows > 0 ? found : null
  const text =
    progress === null
      ? texts.waiting
      : texts.computing(formatNumber(progress.part), formatNumber(progress.rows), formatNumber(progress.totalRows))
  return (
    <div className={styles['computing']}>
      <div className={styles['progress']}>
        <span>{text}</span>
        <progress
          aria-label={texts.progress}
          max={1}
          value={progress === null ? undefined : progress.rows / progress.totalRows}
        />
      </div>
      <Button onClick={() => void client.cancelQueries({ queryKey: ['analytics', businessId] })}>
        {textsOf('shell').cancel}
      </Button>
    </div>
  )
}
