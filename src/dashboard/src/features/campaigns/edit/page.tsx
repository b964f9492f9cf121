import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../../../client.ts'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type CampaignPath, campaignQuery } from '../queries.ts'
import { Editor } from './editor.tsx'

export function NewCampaignPage() {
  const { id } = useBusiness()
  return useCan('audience:write') ? <Editor businessId={id} campaign={undefined} /> : <NotFound />
}

export function EditCampaignPage() {
  const path = useParams({ strict: false }) as CampaignPath
  const canEdit = useCan('audience:write')
  // Read once, when the page opens: a save by another person must not change what is being edited.
  const { data, error, refetch } = useQuery({
    queryKey: ['campaign-edited', path],
    queryFn: campaignQuery(path).queryFn,
    staleTime: Infinity,
    gcTime: 0,
  })
  if (!canEdit || (error instanceof ApiError && error.status === 404)) return <NotFound />
  if (data === undefined) {
    return (
      <Page title={textsOf('campaigns').editTitle}>
        {error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  }
  return <Editor key={path.campaignId} businessId={path.businessId} campaign={data.campaign} />
}
