/** The size of a segment over the last 30 days, in a row of the list. Rows that are not visible send no request. */
import { useQuery } from '@tanstack/react-query'
import { formatNumber } from '../../format.ts'
import { Sparkline } from '../../parts/value/sparkline.tsx'
import { textsOf } from '../../texts/index.ts'
import type { ListedSegment } from '../rules/queries.ts'
import { historyQuery, isAwaited } from './queries.ts'

export function Trend({ businessId, segment }: { businessId: string; segment: ListedSegment }) {
  const { segmentId } = segment
  const { data } = useQuery({ ...historyQuery({ businessId, segmentId }), enabled: !isAwaited(segment) })
  const sizes = data?.days.map(({ members }) => members) ?? []
  const [first, last] = [sizes[0], sizes.at(-1)]
  if (first === undefined || last === undefined) return <span className="muted">–</span>
  return <Sparkline label={textsOf('segments').trendOf(formatNumber(first), formatNumber(last))} values={sizes} />
}
