import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { CreateLink, ListPage } from '../../../parts/list/list-page.tsx'
import type { Column } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type ListedSegment, segmentsQuery } from '../../rules/queries.ts'
import { MemberCount, SegmentStatus } from '../segment-status.tsx'
import { Trend } from '../trend.tsx'

export function SegmentsPage() {
  const texts = textsOf('segments')
  const { id: businessId } = useBusiness()
  const canCreate = useCan('audience:write')
  const navigate = useNavigate()
  const list = useQuery(segmentsQuery(businessId))
  const create = canCreate && (
    <CreateLink label={texts.create} to="/dashboard/b/$businessId/segments/new" params={{ businessId }} />
  )
  const segments = list.data?.segments ?? []
  return (
    <ListPage
      title={texts.title}
      intro={texts.intro}
      width="full"
      list={list}
      actions={segments.length > 0 && create}
      columns={columnsOf(businessId)}
      rows={segments}
      keyOf={({ segmentId }) => segmentId}
      onOpen={({ segmentId }) =>
        void navigate({ to: '/dashboard/b/$businessId/segments/$segmentId', params: { businessId, segmentId } })
      }
      empty={
        <Empty icon="segments" title={texts.emptyTitle} actions={create}>
          {texts.empty}
        </Empty>
      }
    />
  )
}

function columnsOf(businessId: string): Column<ListedSegment>[] {
  const texts = textsOf('segments')
  return [
    {
      key: 'name',
      header: texts.name,
      width: 'minmax(120px, 3fr)',
      cell: ({ segmentId, name }) => (
        <Link
          to="/dashboard/b/$businessId/segments/$segmentId"
          params={{ businessId, segmentId }}
          tabIndex={-1}
          className="foreign"
        >
          {name}
        </Link>
      ),
    },
    {
      key: 'members',
      header: texts.members,
      width: '90px',
      align: 'end',
      cell: (segment) => <MemberCount segment={segment} />,
    },
    {
      key: 'trend',
      header: texts.trend,
      width: '130px',
      isSecondary: true,
      cell: (segment) => <Trend businessId={businessId} segment={segment} />,
    },
    {
      key: 'status',
      header: texts.status,
      width: 'minmax(120px, 1fr)',
      cell: (segment) => <SegmentStatus {...segment} />,
    },
    {
      key: 'updated',
      header: texts.updated,
      width: '130px',
      align: 'end',
      isSecondary: true,
      cell: ({ updatedAt }) => <Time at={updatedAt} as="ago" />,
    },
  ]
}
