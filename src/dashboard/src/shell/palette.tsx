/** Ctrl-K: a combobox over pages, businesses, actions, and what pages register. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { ACCOUNT, targetOf, visibleEntries } from '../navigation.ts'
import { Icon } from '../parts/icon.tsx'
import { setTheme, THEMES } from '../preferences.ts'
import { signOut } from '../session/sign-out.ts'
import { useBusinessOrNone, useMe } from '../session/session.ts'
import { textsOf } from '../texts/index.ts'
import { overlay } from './overlays.ts'
import { type PaletteItem, paletteSources } from './palette-sources.ts'
import styles from './palette.module.css'

interface Group {
  title: string
  items: readonly PaletteItem[]
}

export function Palette({ onClose }: { onClose: () => void }) {
  const texts = textsOf('shell').palette
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [wanted, setWanted] = useState('')
  const [active, setActive] = useState(0)
  const found = useFound(wanted)
  const own = useOwnGroups()
  const groups = [
    ...own.map((group) => ({ ...group, items: group.items.filter(({ label }) => matches(label, wanted)) })),
    ...found,
  ]
  const shown = groups.filter(({ items }) => items.length > 0)
  const items = shown.flatMap(({ items }) => items)
  const at = Math.min(active, items.length - 1)
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const run = (item: PaletteItem | undefined) => {
    if (item === undefined) return
    onClose()
    item.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') run(items[at])
    else if (event.key === 'ArrowDown') setActive((at + 1) % Math.max(1, items.length))
    else if (event.key === 'ArrowUp') setActive((at - 1 + items.length) % Math.max(1, items.length))
    else return
    event.preventDefault()
  }
  const optionId = (item: PaletteItem) => `${id}-${items.indexOf(item)}`
  const selected = items[at]
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
      <div className={styles['search']}>
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={texts.label}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={selected && optionId(selected)}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder={texts.placeholder}
          value={wanted}
          onChange={(event) => {
            setWanted(event.target.value)
            setActive(0)
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div id={`${id}-list`} role="listbox" aria-label={texts.label} className={styles['list']}>
        {shown.map(({ title, items }) => (
          <div key={title} role="group" aria-label={title}>
            <div className={styles['title']} aria-hidden="true">
              {title}
            </div>
            {items.map((item) => (
              <div
                key={item.key}
                id={optionId(item)}
                role="option"
                aria-selected={item === selected}
                className={styles['item']}
                onMouseMove={() =>
                  setActive(items === undefined ? 0 : shown.flatMap((group) => group.items).indexOf(item))
                }
                onClick={() => run(item)}
              >
                <Icon name={item.icon} />
                <span className="foreign">{item.label}</span>
                {item.detail !== undefined && <span className={styles['detail']}>{item.detail}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p role="status" className={styles['none']}>
        {items.length === 0 ? texts.none : ''}
      </p>
    </dialog>
  )
}

const matches = (label: string, wanted: string): boolean =>
  wanted
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => label.toLocaleLowerCase().includes(word))

function useOwnGroups(): Group[] {
  const texts = textsOf('shell')
  const me = useMe()
  const business = useBusinessOrNone()
  const navigate = useNavigate()
  const client = useQueryClient()
  const pages = [...visibleEntries(me, business), ACCOUNT].map((entry) => ({
    key: entry.path,
    label: texts.navigation[entry.text],
    icon: entry.icon,
    run: () => void navigate(targetOf(entry, business)),
  }))
  const businesses = me.businesses.map((one) => ({
    key: one.id,
    label: one.name,
    detail: texts.roles[one.role],
    icon: 'building' as const,
    run: () => {
      const first = visibleEntries(me, one)[0] ?? ACCOUNT
      void navigate(targetOf(first, one))
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
    { title: texts.palette.pages, items: pages },
    ...(businesses.length > 1 ? [{ title: texts.palette.businesses, items: businesses }] : []),
    { title: texts.palette.actions, items: actions },
  ]
}

const PAUSE_MS = 150

/** Asks the registered sources once the person pauses; what was asked before is cancelled. */
function useFound(wanted: string): readonly Group[] {
  const [found, setFound] = useState<readonly Group[]>([])
  useEffect(() => {
    const asked = new AbortController()
    const search = async () => {
      if (wanted.trim().length < 2) return setFound([])
      const groups = await Promise.all(
        paletteSources().map(async ({ title, search }) => ({
          title,
          items: await search(wanted.trim(), asked.signal).catch(() => []),
        })),
      )
      if (!asked.signal.aborted) setFound(groups)
    }
    const timer = setTimeout(() => void search(), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      asked.abort()
    }
  }, [wanted])
  return found
}
