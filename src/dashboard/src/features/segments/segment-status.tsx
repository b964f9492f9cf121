/** Shows whether the members of a segment are up to date, and whether its rule needs attention. */
import { formatNumber, formatPercent } from '../../format.ts'
import { Badge } from '../../parts/value/badge.tsx'
import { Num } from '../../parts/value/values.tsx'
import { textsOf } from '../../texts/index.ts'
import type { ListedSegment } from '../rules/queries.ts'
import { isAwaited } from './queries.ts'

export function SegmentStatus({ status, progress, warnings }: Pick<ListedSegment, 'status' | 'progress' | 'warnings'>) {
  const texts = textsOf('segments')
  return (
    <>
      {status === 'computing' && <Badge kind="accent">{texts.computing(formatPercent(progress))}</Badge>}
      {status === 'ready' && warnings.length === 0 && <span className="muted">{texts.ready}</span>}{' '}
      {/* The page of the segment describes them. */}
      {warnings.length > 0 && <Badge kind="warn">{texts.warnings(formatNumber(warnings.length))}</Badge>}
    </>
  )
}

export function MemberCount({ segment }: { segment: Pick<ListedSegment, 'status' | 'memberCount'> }) {
  return isAwaited(segment) ? <span className="muted">–</span> : <Num value={segment.memberCount} />
}
