/** Running campaigns: the contacts enrolled in the last 30 days, by day, and how many of them converted. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { formatNumber, formatPercent } from '../../../format.ts'
import { ButtonLink } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Sparkline } from '../../../parts/value/sparkline.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import {
  type CampaignPath,
  CampaignStatus,
  type ListedCampaign,
  campaignsQuery,
  reportQuery,
} from '../../campaigns/links.ts'
import { daysOf, rangeOf } from '../range.ts'

/**
 * The server expects an instant, and its days are those of the business. No time zone begins a day more than 14 hours
 * before midnight UTC.
 */
const MARGIN_MS = 14 * 3_600_000

const isRunning = ({ status }: ListedCampaign) => status === 'published' || status === 'paused'

export function Campaigns({ businessId, most }: { businessId: string; most: number }) {
  const texts = textsOf('campaigns')
  const { allCampaigns, noCampaigns } = textsOf('journeys')
  const navigate = useNavigate()
  const { data, error, isPending, refetch } = useQuery(campaignsQuery(businessId))
  const campaigns = data?.campaigns.filter(isRunning).toReversed().slice(0, most) ?? []
  return (
    <Section
      title={texts.title}
      actions={
        <ButtonLink size="small" kind="quiet" to="/dashboard/b/$businessId/campaigns" params={{ businessId }}>
          {allCampaigns}
        </ButtonLink>
      }
    >
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {error === null && (
        <Table
          label={texts.title}
          columns={columnsOf(businessId)}
          rows={campaigns}
          keyOf={({ campaignId }) => campaignId}
          onOpen={({ campaignId }) =>
            void navigate({ to: '/dashboard/b/$businessId/campaigns/$campaignId', params: { businessId, campaignId } })
          }
          isLoading={isPending}
          waitingRows={2}
          empty={<Empty icon="campaign" title={noCampaigns} />}
        />
      )}
    </Section>
  )
}

function columnsOf(businessId: string): Column<ListedCampaign>[] {
  const texts = textsOf('campaigns')
  const { enrolledLately, convertedLately, enrolledByDay } = textsOf('journeys')
  return [
    {
      key: 'name',
      header: texts.name,
      width: 'minmax(110px, 3fr)',
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
      isSecondary: true,
      cell: ({ status }) => <CampaignStatus status={status} />,
    },
    {
      key: 'enrolled',
      header: enrolledLately,
      width: 'minmax(90px, 1fr)',
      align: 'end',
      cell: ({ campaignId }) => <Enrolled path={{ businessId, campaignId }} />,
    },
    {
      key: 'converted',
      header: convertedLately,
      width: 'minmax(90px, 1fr)',
      align: 'end',
      isSecondary: true,
      cell: ({ campaignId }) => <Converted path={{ businessId, campaignId }} />,
    },
    {
      key: 'trend',
      header: enrolledByDay,
      width: '120px',
      cell: ({ campaignId }) => <EnrolledTrend path={{ businessId, campaignId }} />,
    },
  ]
}

/** Returns the figures of the last 30 days, including days without enrolments. Undefined until they are read. */
function useLastDays(path: CampaignPath): { enrolled: number; converted: number }[] | undefined {
  const { timezone } = useBusiness()
  const range = rangeOf({}, timezone)
  const from = new Date(Date.parse(range.from) - MARGIN_MS).toISOString()
  const { data } = useQuery(reportQuery(path, { from }))
  const counted = new Map(data?.report.days.map((one) => [one.day, one]))
  return data && daysOf(range).map((day) => counted.get(day) ?? { enrolled: 0, converted: 0 })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

function Enrolled({ path }: { path: CampaignPath }) {
  const days = useLastDays(path)
  return days === undefined ? <span className="muted">–</span> : <Num value={sum(days.map((one) => one.enrolled))} />
}

function Converted({ path }: { path: CampaignPath }) {
  const days = useLastDays(path) ?? []
  const enrolled = sum(days.map((one) => one.enrolled))
  if (enrolled === 0) return <span className="muted">–</span>
  return <span className="numeric">{formatPercent(sum(days.map((one) => one.converted)) / enrolled)}</span>
}

function EnrolledTrend({ path }: { path: CampaignPath }) {
  const values = useLastDays(path)?.map(({ enrolled }) => enrolled)
  if (values === undefined) return <span className="muted">–</span>
  const label = textsOf('journeys').enrolledTrend(formatNumber(Math.max(...values)))
  return <Sparkline label={label} values={values} />
}
