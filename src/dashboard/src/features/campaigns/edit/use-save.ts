import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, take } from '../../../client.ts'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Campaign, campaignQuery, campaignsQuery } from '../queries.ts'
import type { CampaignBody } from './definition.ts'

interface Edited {
  businessId: string
  /** Undefined for a new campaign. */
  campaign: Campaign | undefined
}

/** Saves the campaign, calls `onSaved`, and then opens the campaign. */
export function useSave({ businessId, campaign }: Edited, onSaved: () => void) {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (body: CampaignBody) => send({ businessId, campaign }, body),
    onSuccess: async ({ campaign: { campaignId } }) => {
      onSaved()
      showToast(textsOf('campaigns').saved)
      const path = { businessId, campaignId }
      void client.invalidateQueries({ queryKey: campaignsQuery(businessId).queryKey })
      void client.invalidateQueries({ queryKey: campaignQuery(path).queryKey })
      await navigate({ to: '/dashboard/b/$businessId/campaigns/$campaignId', params: path, search: { tab: 'steps' } })
    },
  })
}

function send({ businessId, campaign }: Edited, body: CampaignBody): Promise<{ campaign: Campaign }> {
  if (campaign === undefined) {
    const params = { path: { businessId } }
    return take(api.POST('/dashboard/api/b/{businessId}/campaigns', { params, body }))
  }
  const params = { path: { businessId, campaignId: campaign.campaignId } }
  return take(api.PATCH('/dashboard/api/b/{businessId}/campaigns/{campaignId}', { params, body }))
}
