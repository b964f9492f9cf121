/** Why a contact is a member of a segment, or not. */
import { useQuery } from '@tanstack/react-query'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { Loading } from '../../parts/feedback/loading.tsx'
import { ExplainedRule } from '../rules/show/explained-rule.tsx'
import { type SegmentPath, explainQuery } from './queries.ts'
import { useSpeaker } from '../rules/use-speaker.ts'

export function Explanation({ path, contactId }: { path: SegmentPath; contactId: string }) {
  const speaker = useSpeaker(path.businessId)
  const { data, error, refetch } = useQuery(explainQuery(path, contactId))
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading lines={5} />
  return <ExplainedRule explanation={data} speaker={speaker} />
}
