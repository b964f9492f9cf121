import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { api, take } from '../../../client.ts'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { textsOf } from '../../../texts/index.ts'
import { templatesQuery } from '../queries.ts'
import { type Template, templateQuery, usesQuery } from '../queries.ts'
import { keyOf } from './draft.ts'

interface DeleteTemplateProps {
  businessId: string
  template: Template
  onClose: () => void
}

/** A template that a campaign uses cannot be deleted. The dialog then lists the campaigns. */
export function DeleteTemplate({ businessId, template: { templateId, name }, onClose }: DeleteTemplateProps) {
  const texts = textsOf('templates')
  const client = useQueryClient()
  const navigate = useNavigate()
  const uses = useQuery({ ...usesQuery(businessId), staleTime: 0 }).data?.get(templateId) ?? []
  if (uses.length > 0) {
    return (
      <Dialog title={texts.inUseTitle} onClose={onClose}>
        <p>{texts.inUse}</p>
        <ul>
          {uses.map((use) => (
            <li key={use.campaignId}>
              <Link
                to="/dashboard/b/$businessId/campaigns/$campaignId"
                params={{ businessId, campaignId: use.campaignId }}
                className="foreign"
              >
                {use.name}
              </Link>
            </li>
          ))}
        </ul>
      </Dialog>
    )
  }
  async function remove() {
    const path = { businessId, templateId }
    await take(api.DELETE('/dashboard/api/b/{businessId}/templates/{templateId}', { params: { path } }))
    localStorage.removeItem(keyOf(businessId, templateId))
    showToast(texts.removed)
    await navigate({ to: '/dashboard/b/$businessId/templates', params: { businessId } })
    client.removeQueries({ queryKey: templateQuery(path).queryKey })
    void client.invalidateQueries({ queryKey: templatesQuery(businessId).queryKey })
  }
  return (
    <Confirm title={texts.removeTitle} action={texts.remove} onConfirm={remove} onClose={onClose}>
      {texts.removeText(name)}
    </Confirm>
  )
}
