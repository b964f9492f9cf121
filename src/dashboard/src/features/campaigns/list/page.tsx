import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ButtonLink } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { CreateLink, ListPage } from '../../../parts/list/list-page.tsx'
import type { Column } from '../../../parts/list/table.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { segmentsQuery } from '../../rules/queries.ts'
import { CampaignStatus } from '../campaign-status.tsx'
import { type ListedCampaign, campaignsQuery } from '../queries.ts'
import { Trigger } from '../trigger.tsx'

export function CampaignsPage() {
  const texts = textsOf('campaigns')
  const { id: businessId } = useBusiness()
  const navigate = useNavigate()
  const list = useQuery(campaignsQuery(businessId))
  const campaigns = list.data?.campaigns.toReversed() ?? []
  const nameOfSegment = useSegmentNames(businessId, campaigns)
  const create = useCan('audience:write') && (
    <CreateLink label={texts.create} to="/dashboard/b/$businessId/campaigns/new" params={{ businessId }} />
  )
  return (
    <ListPage
      title={texts.title}
      intro={texts.intro}
      width="full"
      list={list}
      actions={campaigns.length > 0 && create}
      columns={columnsOf(businessId, nameOfSegment)}
      rows={campaigns}
      keyOf={({ campaignId }) => campaignId}
      onOpen={({ campaignId }) =>
        void navigate({ to: '/dashboard/b/$businessId/campaigns/$campaignId', params: { businessId, campaignId } })
      }
      empty={<NoCampaigns create={create} />}
    />
  )
}

/** `create`: the button that creates a campaign, or false for people who may not. */
function NoCampaigns({ create }: { create: ReactNode }) {
  const texts = textsOf('campaigns')
  const actions = (
    <>
      {create}
      <ButtonLink to="/dashboard/reference" search={{ operation: 'postApiCampaigns' }} icon="book">
        {texts.apiExample}
      </ButtonLink>
    </>
  )
  return (
    <Empty icon="campaign" title={texts.emptyTitle} actions={create !== false && actions}>
      {texts.empty}
    </Empty>
  )
}

/** Reads the segments only when one of them starts a campaign. */
function useSegmentNames(businessId: string, campaigns: ListedCampaign[]): (id: string) => string | undefined {
  const isNeeded = campaigns.some(({ trigger }) => 'segment' in trigger)
  const segments = useQuery({ ...segmentsQuery(businessId), enabled: isNeeded }).data?.segments
  return (id) => segments?.find(({ segmentId }) => segmentId === id)?.name
}

function columnsOf(businessId: string, nameOfSegment: (id: string) => string | undefined): Column<ListedCampaign>[] {
  const texts = textsOf('campaigns')
  return [
    {
      key: 'name',
      header: texts.name,
      width: 'minmax(120px, 2fr)',
      cell: ({ campaignId, name }) => (
        <Link
          to="/dashboard/b/$businessId/campaigns/$campaignId"
          params={{ businessId, campaignId }}
          tabIndex={-1}
          className="foreign"
        >
          {name}
        </Link>
      ),
    },
    {
      key: 'status',
      header: texts.status,
      width: '130px',
      cell: ({ status }) => <CampaignStatus status={status} />,
    },
    {
      key: 'trigger',
      header: texts.trigger,
      width: 'minmax(140px, 2fr)',
      isSecondary: true,
      cell: ({ trigger }) => <Trigger trigger={trigger} nameOfSegment={nameOfSegment} />,
    },
    {
      key: 'goal',
      header: texts.goal,
      width: 'minmax(100px, 1fr)',
      isSecondary: true,
      cell: ({ goal }) =>
        goal === null ? <span className="muted">{texts.noGoal}</span> : <bdi className="foreign">{goal.event}</bdi>,
    },
    {
      key: 'version',
      header: texts.version,
      width: '90px',
      align: 'end',
      isSecondary: true,
      cell: ({ version }) => <Num value={version} />,
    },
  ]
}
