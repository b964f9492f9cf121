import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { peopleQuery } from '../queries.ts'
import { RoleField, readRole } from './role-field.tsx'

/** How the server delivered the link. */
export interface Invited {
  email: string
  mail: 'sent' | 'failed' | 'off'
  link: string | null
}

export function Invite({ businessId, onClose }: { businessId: string; onClose: () => void }) {
  const texts = textsOf('settings')
  const client = useQueryClient()
  const [invited, setInvited] = useState<Invited | null>(null)
  const form = useForm(async ({ email = '', role }) => {
    const body = { email: email.trim(), role: readRole(role) }
    const params = { path: { businessId } }
    const answer = await take(api.POST('/dashboard/api/b/{businessId}/invitations', { params, body }))
    await client.invalidateQueries({ queryKey: peopleQuery(businessId).queryKey })
    if (answer.mail === 'sent') {
      showToast(texts.invited)
      onClose()
    } else setInvited(answer)
  })
  if (invited !== null) return <ShownLink invited={invited} onClose={onClose} />
  return (
    <FormDialog title={texts.invite} form={form} action={texts.invite} onClose={onClose}>
      <TextField
        name="email"
        type="email"
        label={texts.email}
        autoComplete="off"
        dir="ltr"
        required
        error={form.issueOf('email')}
      />
      <RoleField value="marketer" error={form.issueOf('role')} />
    </FormDialog>
  )
}

/** Shown when no mail was sent: a person passes on the link by hand, or sends it again later. */
export function ShownLink({ invited: { email, mail, link }, onClose }: { invited: Invited; onClose: () => void }) {
  const texts = textsOf('settings')
  return (
    <Dialog
      title={texts.invited}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          {texts.done}
        </Button>
      }
    >
      <div className="stack">
        <p>
          <bdi className="foreign">{email}</bdi>
        </p>
        <Note>{mail === 'failed' ? texts.mailFailed : texts.mailOff}</Note>
        {link !== null && <Code text={new URL(link, location.origin).href} label={texts.invitationLink} />}
      </div>
    </Dialog>
  )
}
