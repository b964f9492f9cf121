import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { templatesQuery } from '../queries.ts'
import { type Template, templateQuery } from '../queries.ts'
import type { TemplateDraft } from './draft.ts'

/** `template` is undefined for a new template. */
export function useSave(businessId: string, template: Template | undefined) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (draft: TemplateDraft) => send(businessId, template?.templateId, draft),
    onSuccess: (saved) => {
      const { templateId } = saved.template
      client.setQueryData(templateQuery({ businessId, templateId }).queryKey, saved)
      void client.invalidateQueries({ queryKey: templatesQuery(businessId).queryKey })
    },
  })
}

function send(businessId: string, templateId: string | undefined, draft: TemplateDraft) {
  const { channel, ...body } = draft
  // The server checks variants, by their channel.
  const sent = body as Omit<TemplateDraft, 'channel' | 'variants'> & {
    variants: Record<string, Record<string, unknown>>
  }
  if (templateId === undefined) {
    const params = { path: { businessId } }
    return take(api.POST('/dashboard/api/b/{businessId}/templates', { params, body: { channel, ...sent } }))
  }
  const params = { path: { businessId, templateId } }
  return take(api.PATCH('/dashboard/api/b/{businessId}/templates/{templateId}', { params, body: sent }))
}
