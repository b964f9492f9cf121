/** Ctrl-K: a combobox over pages, businesses, actions, and the contacts, segments and campaigns of a business. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { firstTarget, targetOf, visibleEntries } from '../navigation.ts'
import { ANALYTICS_PAGES } from '../pages.ts'
import { SearchList } from '../parts/list/search-list.tsx'
import { setTheme, THEMES } from '../preferences.ts'
import { signOut } from '../session/sign-out.ts'
import { useBusinessOrNone, useMe } from '../session/session.ts'
import { textsOf } from '../texts/index.ts'
import { findContactsQuery } from '../features/contacts/links.ts'
import { overlay } from './overlays.ts'
import { type PaletteGroup, type PaletteItem, matches, searchBusiness } from './palette-sources.ts'
import styles from './palette.module.css'

export function Palette({ onClose }: { onClose: () => void }) {
  const texts = textsOf('shell').palette
  const dialog = useRef<HTMLDialogElement>(null)
  const [wanted, setWanted] = useState('')
  const found = useFound(wanted)
  const own = useOwnGroups().map(({ title, options }) => ({
    title,
    options: options.filter(({ label }) => matches(label, wanted)),
  }))
  // Open before the next key event, which is meant for the search field.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={texts.label}
      className={styles['palette']}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
    >
      <SearchList
        label={texts.label}
        placeholder={texts.placeholder}
        wanted={wanted}
        onSearch={setWanted}
        groups={[...own, ...found]}
        none={texts.none}
        hint={<kbd>Esc</kbd>}
        onChoose={({ run }) => {
          onClose()
          run()
        }}
      />
    </dialog>
  )
}

function useOwnGroups(): PaletteGroup[] {
  const texts = textsOf('shell')
  const me = useMe()
  const business = useBusinessOrNone()
  const navigate = useNavigate()
  const client = useQueryClient()
  const pages = visibleEntries(me, business).map((entry) => ({
    key: entry.path,
    label: texts.navigation[entry.text],
    icon: entry.icon,
    run: () => void navigate(targetOf(entry, business)),
  }))
  const canRead = business?.permissions.includes('lists:read') ?? false
  const analytics = ANALYTICS_PAGES.filter(() => canRead).map((page) => ({
    key: page,
    label: texts.analyticsPages[page],
    icon: 'chart' as const,
    run: () =>
      void navigate({
        to: `/dashboard/b/$businessId/analytics/${page}` as const,
        params: { businessId: business?.id ?? '' },
      }),
  }))
  const businesses = me.businesses.map((one) => ({
    key: one.id,
    label: one.name,
    detail: texts.roles[one.role],
    icon: 'building' as const,
    run: () => {
      void navigate(firstTarget(me, one))
    },
  }))
  const actions: PaletteItem[] = [
    ...THEMES.map((theme) => ({
      key: theme,
      label: `${texts.theme.label}: ${texts.theme[theme]}`,
      icon: 'sun' as const,
      run: () => setTheme(theme),
    })),
    { key: '?', label: texts.shortcuts.show, icon: 'keyboard', run: () => overlay.set('shortcuts') },
    { key: 'out', label: texts.signOut, icon: 'out', run: () => void signOut(client) },
  ]
  return [
    { title: texts.palette.pages, options: [...pages, ...analytics] },
    ...(businesses.length > 1 ? [{ title: texts.palette.businesses, options: businesses }] : []),
    { title: texts.palette.actions, options: actions },
  ]
}

const PAUSE_MS = 150

/** Searches once the person pauses typing. An earlier search that is still running is cancelled. */
function useFound(wanted: string): readonly PaletteGroup[] {
  const [found, setFound] = useState<readonly PaletteGroup[]>([])
  const client = useQueryClient()
  const navigate = useNavigate()
  const business = useBusinessOrNone()
  useEffect(() => {
    const searched = wanted.trim()
    if (business === undefined || searched.length < 2) return setFound([])
    let isCurrent = true
    const open = (page: string) => void navigate({ to: `/dashboard/b/${business.id}/${page}` })
    const search = async () => {
      const groups = await searchBusiness({ client, business, open }, searched)
      if (isCurrent) setFound(groups)
    }
    const timer = setTimeout(() => void search(), PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
      void client.cancelQueries(findContactsQuery(business.id, searched))
    }
  }, [wanted, client, navigate, business])
  return found
}
