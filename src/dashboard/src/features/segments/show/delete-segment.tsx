import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, take } from '../../../client.ts'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { SegmentPath } from '../queries.ts'
import { segmentsQuery } from '../../rules/queries.ts'

interface DeleteSegmentProps {
  path: SegmentPath
  name: string
  onClose: () => void
}

/** While another rule or a campaign uses the segment, the server rejects the deletion and names them. */
export function DeleteSegment({ path, name, onClose }: DeleteSegmentProps) {
  const texts = textsOf('segments')
  const client = useQueryClient()
  const navigate = useNavigate()
  const { businessId } = path
  async function remove() {
    await take(api.DELETE('/dashboard/api/b/{businessId}/segments/{segmentId}', { params: { path } }))
    showToast(texts.removed)
    await navigate({ to: '/dashboard/b/$businessId/segments', params: { businessId } })
    client.removeQueries({ queryKey: ['segment', path] })
    void client.invalidateQueries({ queryKey: segmentsQuery(businessId).queryKey })
  }
  return (
    <Confirm title={texts.removeTitle} action={texts.remove} onConfirm={remove} onClose={onClose}>
      {texts.removeText(name)}
    </Confirm>
  )
}
