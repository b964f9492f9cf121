/** Publishes, pauses, resumes and archives a campaign. */
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { scopeOf, useOptimistic } from '../../../parts/action/use-optimistic.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Campaign, type CampaignPath, campaignQuery, campaignsQuery } from '../queries.ts'

/** Changes that can be undone and are always allowed, so they are shown at once. */
const SWITCHED = { pause: 'paused', resume: 'published' } as const
export type Switch = keyof typeof SWITCHED
/** Changes that wait for the answer: the server may reject publishing, and archiving is final. */
export type Step = 'publish' | 'archive'
export type StepState = UseMutationResult<Read, Error, Step>
type Read = { campaign: Campaign }

export function useStep(path: CampaignPath): StepState {
  const client = useQueryClient()
  const showDone = useDone(path)
  const { queryKey } = campaignQuery(path)
  return useMutation({
    scope: scopeOf(queryKey),
    mutationFn: (step: Step) => send(step, path),
    onSuccess: async (data, step) => {
      // A fetch that began earlier would bring back the old state.
      await client.cancelQueries({ queryKey, exact: true })
      client.setQueryData(queryKey, data)
      showDone(step)
    },
  })
}

/** Pauses and resumes a campaign. The change is shown at once. */
export function useSwitch(path: CampaignPath, read: Read | undefined) {
  return useOptimistic(read, {
    queryKey: campaignQuery(path).queryKey,
    send: (change: Switch) => send(change, path),
    show: ({ campaign }, change) => ({ campaign: { ...campaign, status: SWITCHED[change] } }),
    keep: (answer) => answer,
    onDone: useDone(path),
  })
}

function useDone(path: CampaignPath) {
  const client = useQueryClient()
  const { done } = textsOf('campaigns')
  return (change: Step | Switch) => {
    // This includes its report and its enrolments.
    void client.invalidateQueries({ queryKey: campaignQuery(path).queryKey })
    void client.invalidateQueries({ queryKey: campaignsQuery(path.businessId).queryKey })
    showToast(done[change])
  }
}

function send(change: Step | Switch, path: CampaignPath): Promise<Read> {
  const params = { path }
  switch (change) {
    case 'publish':
      return take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/publish', { params }))
    case 'pause':
      return take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/pause', { params }))
    case 'resume':
      return take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/resume', { params }))
    case 'archive':
      return take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/archive', { params }))
  }
}
