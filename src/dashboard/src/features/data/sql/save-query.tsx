/** Saves the statement in the editor under a new name, or in place of the query that was opened. */
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { CheckboxField, TextField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { type SavedQuery, savedQueriesQuery } from './queries.ts'

interface SaveQueryProps {
  businessId: string
  opened: SavedQuery | undefined
  statement: string
  parameters: Record<string, string>
  onSaved: (id: string) => void
  onClose: () => void
}

export function SaveQuery({ businessId, opened, statement, parameters, onSaved, onClose }: SaveQueryProps) {
  const texts = textsOf('sql')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const [isNew, setNew] = useState(false)
  const form = useForm(async ({ name = '' }) => {
    const body = { name: name.trim(), statement, parameters }
    const saved =
      opened !== undefined && !isNew
        ? await take(
            api.PUT('/dashboard/api/b/{businessId}/sql/queries/{queryId}', {
              params: { path: { businessId, queryId: opened.id } },
              body,
            }),
          )
        : await take(api.POST('/dashboard/api/b/{businessId}/sql/queries', { params: { path: { businessId } }, body }))
    await client.invalidateQueries(savedQueriesQuery(businessId))
    showToast(shell.saved)
    onSaved(saved.query.id)
  })
  return (
    <FormDialog title={texts.saveTitle} form={form} onClose={onClose}>
      <TextField
        name="name"
        label={texts.name}
        hint={texts.shared}
        required
        maxLength={100}
        defaultValue={opened?.name}
        error={form.issueOf('name')}
      />
      {opened !== undefined && (
        <CheckboxField
          name="new"
          label={texts.saveAsNew}
          checked={isNew}
          onChange={(event) => setNew(event.target.checked)}
        />
      )}
    </FormDialog>
  )
}
