/** Filters that the business has saved under names. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../client.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorBox } from '../../parts/error-box.tsx'
import { TextField } from '../../parts/field.tsx'
import { Tab, Tabs } from '../../parts/tabs.tsx'
import { showToast } from '../../parts/toast.tsx'
import { useForm } from '../../parts/use-form.ts'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './contacts.module.css'
import { type SavedView, filtersQuery } from './queries.ts'
import type { ContactSearch } from './route.ts'

interface ViewsProps {
  businessId: string
  views: SavedView[]
  filter: ContactSearch
}

const NAMES = ['query', 'tag', 'stage', 'segment', 'field', 'value'] as const

const isSame = (a: ContactSearch, b: ContactSearch): boolean =>
  NAMES.every((name) => (a[name] ?? '') === (b[name] ?? ''))

export function Views({ businessId, views, filter }: ViewsProps) {
  const texts = textsOf('contacts')
  const canSave = useCan('audience:write')
  const [opened, setOpened] = useState<'save' | 'delete' | null>(null)
  const shown = views.find(({ filters }) => isSame(filters as ContactSearch, filter))
  const isFiltered = NAMES.some((name) => filter[name] !== undefined)
  if (views.length === 0 && !(isFiltered && canSave)) return null
  return (
    <div className={styles['views']}>
      <Tabs label={texts.views}>
        <ViewTab businessId={businessId} search={{}} isShown={!isFiltered} name={texts.allContacts} />
        {views.map(({ id, name, filters }) => (
          <ViewTab
            key={id}
            businessId={businessId}
            search={filters as ContactSearch}
            isShown={id === shown?.id}
            name={name}
          />
        ))}
      </Tabs>
      {canSave && isFiltered && shown === undefined && (
        <Button size="small" onClick={() => setOpened('save')}>
          {texts.saveView}
        </Button>
      )}
      {canSave && shown !== undefined && (
        <Button size="small" kind="quiet" onClick={() => setOpened('delete')}>
          {texts.deleteView}
        </Button>
      )}
      {opened === 'save' && <SaveView businessId={businessId} filter={filter} onClose={() => setOpened(null)} />}
      {opened === 'delete' && shown !== undefined && (
        <DeleteView businessId={businessId} view={shown} onClose={() => setOpened(null)} />
      )}
    </div>
  )
}

interface ViewTabProps {
  businessId: string
  search: ContactSearch
  isShown: boolean
  name: string
}

function ViewTab({ businessId, search, isShown, name }: ViewTabProps) {
  return (
    <Tab
      to="/dashboard/b/$businessId/contacts"
      params={{ businessId }}
      search={search}
      // The router would also mark a view whose filters are among those of the URL.
      activeOptions={{ exact: true, includeSearch: true }}
      {...(isShown && { 'aria-current': 'page' as const })}
    >
      <bdi className="foreign">{name}</bdi>
    </Tab>
  )
}

function SaveView({ businessId, filter, onClose }: Omit<ViewsProps, 'views'> & { onClose: () => void }) {
  const texts = textsOf('contacts')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const form = useForm(async ({ name = '' }) => {
    const body = { name: name.trim(), filters: Object.fromEntries(Object.entries(filter).filter(([, value]) => value)) }
    await take(api.POST('/dashboard/api/b/{businessId}/contact-views', { params: { path: { businessId } }, body }))
    await client.invalidateQueries(filtersQuery(businessId))
    showToast(shell.saved)
    onClose()
  })
  return (
    <Dialog title={texts.saveView} onClose={onClose}>
      <form {...form.props} className="stack">
        <TextField name="name" label={texts.viewName} required maxLength={100} error={form.issueOf('name')} />
        <ErrorBox error={form.error} />
        <div className="actions">
          <Button onClick={onClose}>{shell.cancel}</Button>
          <Button kind="primary" type="submit" isPending={form.isPending}>
            {shell.save}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface DeleteViewProps {
  businessId: string
  view: SavedView
  onClose: () => void
}

function DeleteView({ businessId, view: { id, name }, onClose }: DeleteViewProps) {
  const texts = textsOf('contacts')
  const client = useQueryClient()
  const navigate = useNavigate()
  async function remove() {
    const params = { path: { businessId, viewId: id } }
    await take(api.DELETE('/dashboard/api/b/{businessId}/contact-views/{viewId}', { params }))
    await client.invalidateQueries(filtersQuery(businessId))
    await navigate({ to: '.', search: {} as never })
  }
  return (
    <Confirm title={texts.deleteView} action={texts.deleteView} onConfirm={remove} onClose={onClose}>
      {texts.deleteViewText(name)}
    </Confirm>
  )
}
