import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { api, apply } from '../../../client.ts'
import { TextField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import type { Contact, ContactPath } from './queries.ts'

export const PROFILE_FIELDS = ['firstName', 'lastName', 'country', 'city', 'language', 'timezone'] as const

export function EditProfile({ path, contact, onClose }: { path: ContactPath; contact: Contact; onClose: () => void }) {
  const texts = textsOf('contacts')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const form = useForm(async (values) => {
    // Send only changed fields: another person may have changed the others in the meantime.
    const changed = PROFILE_FIELDS.filter((field) => (values[field] ?? '').trim() !== (contact[field] ?? ''))
    const profile = Object.fromEntries(changed.map((field) => [field, values[field]?.trim() || null]))
    if (changed.length > 0) {
      const body = { profile }
      await apply(api.PATCH('/dashboard/api/b/{businessId}/contacts/{contactId}', { params: { path }, body }))
      await client.invalidateQueries({ queryKey: ['contact', path] })
      void client.invalidateQueries({ queryKey: ['contacts', path.businessId] })
      showToast(shell.saved)
    }
    onClose()
  })
  return (
    <FormDialog title={texts.editTitle} form={form} onClose={onClose}>
      {PROFILE_FIELDS.map((field) => (
        <TextField
          key={field}
          name={field}
          label={texts[field]}
          defaultValue={contact[field] ?? ''}
          dir="auto"
          error={form.issueOf(`profile.${field}`)}
        />
      ))}
    </FormDialog>
  )
}
