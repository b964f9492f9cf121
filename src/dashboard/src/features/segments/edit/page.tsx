import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../../../client.ts'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type SegmentPath, segmentQuery } from '../queries.ts'
import { Editor } from './editor.tsx'

export function NewSegmentPage() {
  const { id } = useBusiness()
  return useCan('audience:write') ? <Editor businessId={id} segment={undefined} /> : <NotFound />
}

export function EditSegmentPage() {
  const path = useParams({ strict: false }) as SegmentPath
  const canEdit = useCan('audience:write')
  // Read once, when the page opens: a save by another person must not change what is being edited.
  const { data, error, refetch } = useQuery({
    queryKey: ['segment-edited', path],
    queryFn: segmentQuery(path).queryFn,
    staleTime: Infinity,
    gcTime: 0,
  })
  if (!canEdit || (error instanceof ApiError && error.status === 404)) return <NotFound />
  if (data === undefined) {
    return (
      <Page title={textsOf('segments').editTitle}>
        {error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  }
  return <Editor key={path.segmentId} businessId={path.businessId} segment={data.segment} />
}
