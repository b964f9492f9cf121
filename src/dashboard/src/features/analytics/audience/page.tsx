/** Campaigns and segments over time, with links to their pages. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ButtonLink } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { campaignsQuery } from '../../campaigns/links.ts'
import { type ListedSegment, segmentsQuery } from '../../rules/queries.ts'
import { MemberCount, Trend } from '../../segments/links.ts'
import { AnalyticsPage } from '../frame.tsx'
import { Campaigns } from './campaigns.tsx'

/** Most segments and campaigns that are shown. The others are on their own pages. */
const SHOWN = 10

export function AudiencePage() {
  const { id: businessId } = useBusiness()
  const { isPending } = useQuery(campaignsQuery(businessId))
  return (
    <AnalyticsPage title={textsOf('analytics').tabs.audience}>
      <Campaigns businessId={businessId} most={SHOWN} />
      {/* Not before the campaigns are loaded: they would move it. */}
      {!isPending && <Segments businessId={businessId} />}
    </AnalyticsPage>
  )
}

function Segments({ businessId }: { businessId: string }) {
  const texts = textsOf('segments')
  const { allSegments } = textsOf('journeys')
  const navigate = useNavigate()
  const { data, error, isPending, refetch } = useQuery(segmentsQuery(businessId))
  const segments = data?.segments.toSorted((one, other) => other.memberCount - one.memberCount).slice(0, SHOWN) ?? []
  return (
    <Section
      title={texts.title}
      actions={
        <ButtonLink size="small" kind="quiet" to="/dashboard/b/$businessId/segments" params={{ businessId }}>
          {allSegments}
        </ButtonLink>
      }
    >
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {error === null && (
        <Table
          label={texts.title}
          columns={columnsOf(businessId)}
          rows={segments}
          keyOf={({ segmentId }) => segmentId}
          onOpen={({ segmentId }) =>
            void navigate({ to: '/dashboard/b/$businessId/segments/$segmentId', params: { businessId, segmentId } })
          }
          isLoading={isPending}
          waitingRows={2}
          empty={<Empty icon="segments" title={texts.emptyTitle} />}
        />
      )}
    </Section>
  )
}

function columnsOf(businessId: string): Column<ListedSegment>[] {
  const texts = textsOf('segments')
  return [
    {
      key: 'name',
      header: texts.name,
      width: 'minmax(110px, 3fr)',
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
      width: '100px',
      align: 'end',
      cell: (segment) => <MemberCount segment={segment} />,
    },
    {
      key: 'trend',
      header: texts.trend,
      width: '120px',
      cell: (segment) => <Trend businessId={businessId} segment={segment} />,
    },
  ]
}
