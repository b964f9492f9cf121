/** Publishes, pauses, resumes and archives a campaign. */
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import { showToast } from '../../parts/toast.tsx'
import { textsOf } from '../../texts/index.ts'
import { type Campaign, type CampaignPath, campaignQuery, campaignsQuery } from '../campaigns/queries.ts'

export type Change = 'publish' | 'pause' | 'resume' | 'archive'
export type ChangeState = UseMutationResult<{ campaign: Campaign }, Error, Change>

export function useChange(path: CampaignPath): ChangeState {
  const client = useQueryClient()
  const { done } = textsOf('campaigns')
  return useMutation({
    mutationFn: (change: Change) => send(change, path),
    onSuccess: (data, change) => {
      client.setQueryData(campaignQuery(path).queryKey, data)
      // With its report and its enrolments.
      void client.invalidateQueries({ queryKey: campaignQuery(path).queryKey })
      void client.invalidateQueries({ queryKey: campaignsQuery(path.businessId).queryKey })
      showToast(done[change])
    },
  })
}

function send(change: Change, path: CampaignPath): Promise<{ campaign: Campaign }> {
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
