import { useQuery } from '@tanstack/react-query'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { settingsQuery } from '../queries.ts'
import { General } from './general.tsx'
import { Origins } from './origins.tsx'
import { QuickStart } from './quick-start.tsx'

export function BusinessPage() {
  const texts = textsOf('settings')
  const { id: businessId } = useBusiness()
  const { data, error, isPending, refetch } = useQuery(settingsQuery(businessId))
  return (
    <Page title={texts.business} width="text">
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {isPending && <Loading lines={8} />}
      {data !== undefined && (
        <>
          <General settings={data} />
          <Origins settings={data} />
          <QuickStart businessId={businessId} />
        </>
      )}
    </Page>
  )
}
