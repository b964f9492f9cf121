import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ApiError } from '../../../client.ts'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type TemplatePath, templateQuery } from '../queries.ts'
import { Editor } from './editor.tsx'

export function NewTemplatePage() {
  const { id } = useBusiness()
  return useCan('audience:write') ? <Editor businessId={id} template={undefined} /> : <NotFound />
}

export function TemplatePage() {
  const path = useParams({ strict: false }) as TemplatePath
  const canSee = useCan('contacts:read')
  const { data, error, refetch } = useQuery({ ...templateQuery(path), enabled: canSee })
  if (!canSee || (error instanceof ApiError && error.status === 404)) return <NotFound />
  if (data === undefined) {
    return (
      <Page title={textsOf('templates').template}>
        {error === null ? <Loading lines={8} /> : <ErrorBox error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  }
  return <Editor key={path.templateId} businessId={path.businessId} template={data.template} />
}
