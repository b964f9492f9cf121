import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Member, peopleQuery } from '../queries.ts'
import { RoleField, readRole } from './role-field.tsx'

interface EditMemberProps {
  businessId: string
  member: Member
  onClose: () => void
}

export function EditMember({ businessId, member, onClose }: EditMemberProps) {
  const texts = textsOf('settings')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const [isRemoving, setRemoving] = useState(false)
  const params = { path: { businessId, userId: member.userId } }
  const refresh = () => client.invalidateQueries({ queryKey: peopleQuery(businessId).queryKey })
  const tellLost = (invited: string[]) => {
    if (invited.length > 0) showToast(texts.lostInvitations(invited.join(', ')))
  }
  const form = useForm(async ({ role }) => {
    const body = { role: readRole(role) }
    const { revokedInvitations } = await take(
      api.PUT('/dashboard/api/b/{businessId}/people/{userId}', { params, body }),
    )
    await refresh()
    showToast(shell.saved)
    tellLost(revokedInvitations)
    onClose()
  })
  const remove = async () => {
    const { revokedInvitations } = await take(api.DELETE('/dashboard/api/b/{businessId}/people/{userId}', { params }))
    await refresh()
    showToast(texts.removed)
    tellLost(revokedInvitations)
  }
  if (isRemoving) {
    return (
      <Confirm title={texts.removeTitle} action={texts.remove} onConfirm={remove} onClose={onClose}>
        <p>
          <bdi className="foreign">{member.email}</bdi>
        </p>
        <p>{texts.removeText}</p>
      </Confirm>
    )
  }
  return (
    <Dialog title={member.email} onClose={onClose}>
      <form {...form.props} className="stack">
        <RoleField value={member.role} error={form.issueOf('role')} />
        <ErrorBox error={form.error} />
        <div className="actions">
          <Button icon="trash" onClick={() => setRemoving(true)}>
            {texts.remove}
          </Button>
          <Button kind="primary" type="submit" isPending={form.isPending}>
            {shell.save}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
