/** Filters that the business has saved under names. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { Menu } from '../../../parts/overlay/menu.tsx'
import { Tab, Tabs } from '../../../parts/page/tabs.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from './contacts.module.css'
import { type SavedView, filtersQuery } from '../queries.ts'
import type { ContactSearch } from '../search.ts'
import { RenameView, SaveView } from './save-view.tsx'

interface ViewsProps {
  businessId: string
  views: SavedView[]
  filter: ContactSearch
}

/** The open dialog. A dialog for a view has the view's ID, so that it cannot continue with another view. */
type Opened = { kind: 'save' } | { kind: 'rename' | 'delete'; viewId: string }

const NAMES = ['query', 'tag', 'stage', 'segment', 'field', 'value'] as const

const isSame = (a: ContactSearch, b: ContactSearch): boolean =>
  NAMES.every((name) => (a[name] ?? '') === (b[name] ?? ''))

export function Views({ businessId, views, filter }: ViewsProps) {
  const texts = textsOf('contacts')
  const canSave = useCan('audience:write')
  const [opened, setOpened] = useState<Opened | null>(null)
  const [lastId, setLastId] = useState<string>()
  const shown = views.find(({ filters }) => isSame(filters as ContactSearch, filter))
  const isFiltered = NAMES.some((name) => filter[name] !== undefined)
  // Filters that are changed from here on are most likely those of this view.
  const nextId = shown?.id ?? (isFiltered ? lastId : undefined)
  if (nextId !== lastId) setLastId(nextId)
  const close = () => setOpened(null)
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
        <Button size="small" onClick={() => setOpened({ kind: 'save' })}>
          {texts.saveView}
        </Button>
      )}
      {canSave && shown !== undefined && (
        <Menu
          label={texts.viewActions(shown.name)}
          items={[
            { label: texts.renameView, icon: 'edit', onSelect: () => setOpened({ kind: 'rename', viewId: shown.id }) },
            {
              label: texts.deleteView,
              icon: 'trash',
              isDangerous: true,
              onSelect: () => setOpened({ kind: 'delete', viewId: shown.id }),
            },
          ]}
        >
          <Icon name="more" />
        </Menu>
      )}
      {opened?.kind === 'save' && (
        <SaveView businessId={businessId} views={views} lastId={lastId} filter={filter} onClose={close} />
      )}
      {opened?.kind === 'rename' && opened.viewId === shown?.id && (
        <RenameView businessId={businessId} view={shown} onClose={close} />
      )}
      {opened?.kind === 'delete' && opened.viewId === shown?.id && (
        <DeleteView businessId={businessId} view={shown} onClose={close} />
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
      // Without this, the router would also mark a view whose filters are only a part of the URL's.
      activeOptions={{ exact: true, includeSearch: true }}
      {...(isShown && { 'aria-current': 'page' as const })}
    >
      <bdi className="foreign">{name}</bdi>
    </Tab>
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
    await navigate({ to: '.', search: {} })
  }
  return (
    <Confirm title={texts.deleteView} action={texts.deleteView} onConfirm={remove} onClose={onClose}>
      {texts.deleteViewText(name)}
    </Confirm>
  )
}
