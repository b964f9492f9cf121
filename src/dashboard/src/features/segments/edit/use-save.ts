import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { type Segment, segmentQuery } from '../queries.ts'
import { segmentsQuery } from '../../rules/queries.ts'
import { ruleOf } from '../../rules/tree.ts'
import { type Draft, draftOf } from './draft.ts'

/** Creates the segment, or sends the fields that differ: another person may have changed the others in the meantime. */
export function useSave(
  businessId: string,
  segment: Segment | undefined,
): UseMutationResult<{ segment: Segment }, Error, Draft> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (draft: Draft) =>
      segment === undefined ? create(businessId, draft) : update(businessId, segment, draft),
    onSuccess: (saved) => {
      const path = { businessId, segmentId: saved.segment.segmentId }
      client.removeQueries({ queryKey: ['segment', path] })
      client.setQueryData(segmentQuery(path).queryKey, saved)
      void client.invalidateQueries({ queryKey: segmentsQuery(businessId).queryKey })
      void client.invalidateQueries({ queryKey: ['segment-fields', businessId] })
    },
  })
}

const bodyOf = ({ name, description, tree }: Draft) => ({
  name: name.trim(),
  description: description.trim(),
  rule: ruleOf(tree).rule,
})

function create(businessId: string, draft: Draft) {
  return take(
    api.POST('/dashboard/api/b/{businessId}/segments', { params: { path: { businessId } }, body: bodyOf(draft) }),
  )
}

function update(businessId: string, { segmentId, ...segment }: Segment, draft: Draft) {
  const before = bodyOf(draftOf({ segmentId, ...segment }))
  const wanted = Object.entries(bodyOf(draft))
  const body = Object.fromEntries(
    wanted.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof typeof before])),
  )
  return take(
    api.PATCH('/dashboard/api/b/{businessId}/segments/{segmentId}', {
      params: { path: { businessId, segmentId } },
      body,
    }),
  )
}
