import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useId } from 'react'
import { type NavigationEntry, firstTarget, sideEntries, targetOf } from '../navigation.ts'
import { Icon } from '../parts/value/icon.tsx'
import { Menu } from '../parts/overlay/menu.tsx'
import { PlainHttp } from '../parts/feedback/plain-http.tsx'
import { setTheme, THEMES, theme } from '../preferences.ts'
import { type Business, chooseBusiness, useBusinessOrNone, useMe } from '../session/session.ts'
import { signOut } from '../session/sign-out.ts'
import { useStore } from '../store.ts'
import { textsOf } from '../texts/index.ts'
import { overlay } from './overlays.ts'
import styles from './shell.module.css'

export function Sidebar() {
  const me = useMe()
  // On pages outside a business, the links lead to the last business.
  const business = useBusinessOrNone() ?? chooseBusiness(me)
  const entries = sideEntries(me, business)
  const groups = [...Map.groupBy(entries, ({ group }) => group)]
  const texts = textsOf('shell')
  return (
    <div className={styles['sidebar']}>
      <BusinessSwitcher business={business} />
      <button type="button" className={styles['find']} onClick={() => overlay.set('palette')}>
        <Icon name="search" />
        <span>{texts.palette.open}</span>
        <kbd aria-hidden="true">{texts.control} K</kbd>
      </button>
      <nav aria-label={texts.navigation.label} className={styles['nav']}>
        {groups.map(([group, members]) => (
          <NavigationGroup key={group ?? ''} group={group} entries={members} business={business} />
        ))}
      </nav>
      {!isSecureContext && <PlainHttp />}
      <PersonMenu />
    </div>
  )
}

interface GroupProps {
  group: NavigationEntry['group']
  entries: readonly NavigationEntry[]
  business: Business | undefined
}

function NavigationGroup({ group, entries, business }: GroupProps) {
  const id = useId()
  const texts = textsOf('shell')
  return (
    <div>
      {group !== undefined && (
        <h2 id={id} className={styles['groupTitle']}>
          {texts.groups[group]}
        </h2>
      )}
      <ul aria-labelledby={group && id}>
        {entries.map((entry) => (
          <li key={entry.path}>
            <Link
              {...targetOf(entry, business)}
              className={styles['entry']}
              activeOptions={{ exact: (entry.path as string) === '/dashboard/b/$businessId', includeSearch: false }}
            >
              <Icon name={entry.icon} />
              {texts.navigation[entry.text]}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function BusinessSwitcher({ business }: { business: Business | undefined }) {
  const texts = textsOf('shell')
  const me = useMe()
  const navigate = useNavigate()
  const name = business?.name ?? texts.noBusiness
  const face = (
    <>
      <span className={styles['mark']} aria-hidden="true">
        {String.fromCodePoint(name.codePointAt(0) ?? 0x20).toLocaleUpperCase()}
      </span>
      <span className={styles['businessName']}>{name}</span>
    </>
  )
  if (me.businesses.length < 2) return <div className={styles['switcher']}>{face}</div>
  const items = me.businesses.map((one) => ({
    label: one.name,
    isChosen: one.id === business?.id,
    onSelect: () => void navigate(firstTarget(me, one)),
  }))
  return (
    <Menu label={texts.switchBusiness(name)} items={items} className={styles['switcher']}>
      {face}
      <Icon name="down" />
    </Menu>
  )
}

function PersonMenu() {
  const texts = textsOf('shell')
  const { user } = useMe()
  const client = useQueryClient()
  const navigate = useNavigate()
  const chosen = useStore(theme)
  const name = user.name || user.email
  const next = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? 'system'
  return (
    <Menu
      label={texts.yourAccount(name)}
      className={styles['person']}
      items={[
        {
          label: texts.navigation.account,
          icon: 'person',
          onSelect: () => void navigate({ to: '/dashboard/account' }),
        },
        { label: `${texts.theme.label}: ${texts.theme[next]}`, icon: 'sun', onSelect: () => setTheme(next) },
        { label: texts.shortcuts.title, icon: 'keyboard', onSelect: () => overlay.set('shortcuts') },
        { label: texts.signOut, icon: 'out', onSelect: () => void signOut(client) },
      ]}
    >
      <Icon name="person" />
      <span className={styles['businessName']}>{name}</span>
      <Icon name="more" />
    </Menu>
  )
}
