/** Saves filters under a name, as a new view or in place of a view's filters. Also renames a view. */
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { type FormState, useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { type SavedView, filtersQuery } from '../queries.ts'
import type { ContactSearch } from '../search.ts'

interface SaveViewProps {
  businessId: string
  views: readonly SavedView[]
  /** View whose filters were shown before they were changed. */
  lastId: string | undefined
  filter: ContactSearch
  onClose: () => void
}

const create = (businessId: string, body: Omit<SavedView, 'id'>) =>
  take(api.POST('/dashboard/api/b/{businessId}/contact-views', { params: { path: { businessId } }, body }))

/** Sends only the given fields, so that a change by another person in the meantime stays. */
const change = (businessId: string, viewId: string, body: Partial<Omit<SavedView, 'id'>>) =>
  take(
    api.PUT('/dashboard/api/b/{businessId}/contact-views/{viewId}', { params: { path: { businessId, viewId } }, body }),
  )

function useSave(businessId: string, onClose: () => void) {
  const client = useQueryClient()
  return async (saving: Promise<{ view: SavedView }>) => {
    await saving
    await client.invalidateQueries(filtersQuery(businessId))
    showToast(textsOf('shell').saved)
    onClose()
  }
}

export function SaveView({ businessId, views, lastId, filter, onClose }: SaveViewProps) {
  const texts = textsOf('contacts')
  const [intoId, setIntoId] = useState(lastId ?? '')
  const into = views.find(({ id }) => id === intoId)
  const save = useSave(businessId, onClose)
  const form = useForm(({ name = '' }) => {
    const filters = Object.fromEntries(Object.entries(filter).filter(([, value]) => value))
    return save(
      into === undefined
        ? create(businessId, { name: name.trim(), filters })
        : change(businessId, into.id, { filters }),
    )
  })
  return (
    <FormDialog title={texts.saveView} form={form} onClose={onClose}>
      {views.length > 0 && (
        <SelectField
          name="into"
          label={texts.saveAs}
          value={intoId}
          options={[{ value: '', label: texts.newView }, ...views.map(({ id, name }) => ({ value: id, label: name }))]}
          onChange={(event) => setIntoId(event.target.value)}
          {...(into !== undefined && { hint: texts.replaceViewText })}
        />
      )}
      {into === undefined && <NameField form={form} />}
    </FormDialog>
  )
}

interface RenameViewProps {
  businessId: string
  view: SavedView
  onClose: () => void
}

export function RenameView({ businessId, view: { id, name: before }, onClose }: RenameViewProps) {
  const save = useSave(businessId, onClose)
  const form = useForm(({ name = '' }) => save(change(businessId, id, { name: name.trim() })))
  return (
    <FormDialog title={textsOf('contacts').renameView} form={form} onClose={onClose}>
      <NameField form={form} name={before} />
    </FormDialog>
  )
}

const NameField = ({ form, name }: { form: FormState; name?: string }) => (
  <TextField
    name="name"
    label={textsOf('contacts').viewName}
    required
    maxLength={100}
    defaultValue={name}
    error={form.issueOf('name')}
  />
)
