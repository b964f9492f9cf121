/** Frame of the pages behind the sign-in: side navigation, or a top bar with a drawer, and the overlays. */
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { Suspense, lazy, useEffect } from 'react'
import { type NavigationEntry, targetOf, visibleEntries } from '../navigation.ts'
import { Icon } from '../parts/value/icon.tsx'
import { Toasts } from '../parts/feedback/toast.tsx'
import { rememberBusiness, useBusinessOrNone, useMe } from '../session/session.ts'
import { useStore } from '../store.ts'
import { textsOf } from '../texts/index.ts'
import { ConfirmIdentity } from './confirm-identity.tsx'
import { closeOverlay, overlay } from './overlays.ts'
import { listenForShortcuts, useShortcut } from '../parts/action/shortcuts.ts'
import styles from './shell.module.css'
import { Sidebar } from './sidebar.tsx'

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })))
const ShortcutsDialog = lazy(() =>
  import('./shortcuts-dialog.tsx').then(({ ShortcutsDialog }) => ({ default: ShortcutsDialog })),
)

export function Shell() {
  const texts = textsOf('shell')
  const me = useMe()
  const business = useBusinessOrNone()
  const isLoading = useRouterState({ select: ({ status }) => status === 'pending' })
  useEffect(() => listenForShortcuts(() => overlay.set('palette')), [])
  useEffect(() => {
    if (business !== undefined) rememberBusiness(business.id)
  }, [business])
  useShortcut('?', texts.shortcuts.show, () => overlay.set('shortcuts'))
  return (
    <div className={styles['shell']}>
      <a href="#content" className={`visually-hidden ${styles['skip']}`}>
        {texts.skip}
      </a>
      {isLoading && <div className={styles['progress']} />}
      <header className={styles['top']}>
        <button
          type="button"
          className={styles['topButton']}
          aria-label={texts.openMenu}
          aria-haspopup="dialog"
          onClick={() => overlay.set('menu')}
        >
          <Icon name="menu" size={20} />
        </button>
        <span className={styles['topTitle']}>{business?.name ?? 'Sluice'}</span>
        <button
          type="button"
          className={styles['topButton']}
          aria-label={texts.palette.open}
          onClick={() => overlay.set('palette')}
        >
          <Icon name="search" size={20} />
        </button>
      </header>
      <aside className={styles['side']}>
        <Sidebar />
      </aside>
      <main id="content" tabIndex={-1} className={styles['main']}>
        <Outlet />
      </main>
      {visibleEntries(me, business).map((entry) => (
        <GoTo key={entry.path} entry={entry} />
      ))}
      <Overlays />
      <ConfirmIdentity />
      <Toasts />
    </div>
  )
}

function GoTo({ entry }: { entry: NavigationEntry }) {
  const texts = textsOf('shell')
  const business = useBusinessOrNone()
  const navigate = useNavigate()
  useShortcut(
    entry.key ? `g ${entry.key}` : '',
    texts.shortcuts.goTo(texts.navigation[entry.text]),
    () => void navigate(targetOf(entry, business)),
  )
  return null
}

function Overlays() {
  const open = useStore(overlay)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(closeOverlay, [path])
  return (
    <Suspense>
      {open === 'palette' && <Palette onClose={closeOverlay} />}
      {open === 'shortcuts' && <ShortcutsDialog onClose={closeOverlay} />}
      {open === 'menu' && <Drawer />}
    </Suspense>
  )
}

function Drawer() {
  const texts = textsOf('shell')
  return (
    <dialog
      ref={(element) => {
        element?.showModal()
        return () => element?.close()
      }}
      aria-label={texts.navigation.label}
      className={styles['drawer']}
      onCancel={(event) => {
        event.preventDefault()
        closeOverlay()
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) closeOverlay()
      }}
    >
      <Sidebar />
    </dialog>
  )
}
