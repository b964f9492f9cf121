import { useQuery } from '@tanstack/react-query'
import { Badge } from '../../parts/value/badge.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { Page } from '../../parts/page/page.tsx'
import { useBusiness } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { Attention, attentionOf } from './attention.tsx'
import { Figures } from './figures.tsx'
import { FirstSteps } from './first-steps.tsx'
import { daysQuery, statusQuery } from './queries.ts'
import { Days } from './days.tsx'

export function HomePage() {
  const texts = textsOf('home')
  const { id: businessId, name } = useBusiness()
  const status = useQuery(statusQuery(businessId))
  const days = useQuery(daysQuery(businessId))
  const isEmpty = status.data?.hasContacts === false
  return (
    <Page title={texts.title} intro={<bdi className="foreign">{name}</bdi>} actions={<Verdict status={status.data} />}>
      <ErrorBox error={status.error} onRetry={() => void status.refetch()} />
      {isEmpty && <FirstSteps businessId={businessId} />}
      {status.data !== undefined && <Attention businessId={businessId} status={status.data} />}
      <Figures businessId={businessId} status={status.data} />
      <ErrorBox error={days.error} onRetry={() => void days.refetch()} />
      <Days days={days.data?.days} />
    </Page>
  )
}

function Verdict({ status }: { status: Parameters<typeof attentionOf>[0] | undefined }) {
  const texts = textsOf('home')
  if (status === undefined) return null
  const isWell = attentionOf(status).length === 0
  return (
    <span role="status">
      <Badge kind={isWell ? 'good' : 'warn'}>{isWell ? texts.allWell : texts.needsAttention}</Badge>
    </span>
  )
}
