/** The side navigation, the palette and the `g` shortcuts, from the rows of the pages. */
import type { NavigationRow } from './page-row.ts'
import { PAGES, type PagePath } from './pages.ts'
import type { Business, Me } from './session/session.ts'

export interface NavigationEntry extends NavigationRow {
  path: PagePath
}

const ENTRIES: readonly NavigationEntry[] = PAGES.flatMap((page) =>
  'navigation' in page ? [{ path: page.path, ...page.navigation }] : [],
)

/** Returns what the person may see, in the order of the side navigation. */
export function visibleEntries({ user }: Me, business: Business | undefined): readonly NavigationEntry[] {
  return ENTRIES.filter(({ path, permission }) => {
    if (permission === 'operations') return user.isOperator
    if (path.includes('$businessId') && business === undefined) return false
    return permission === null || (business?.permissions.includes(permission) ?? false)
  })
}

export const sideEntries = (me: Me, business: Business | undefined): readonly NavigationEntry[] =>
  visibleEntries(me, business).filter(({ isInMenu }) => isInMenu !== true)

/** Returns the arguments of `navigate` and of links. */
export function targetOf({ path }: Pick<NavigationEntry, 'path'>, business: Business | undefined) {
  return { to: path, params: { businessId: business?.id ?? '' } }
}

/** Returns the target of the first page that a person may see. */
export const firstTarget = (me: Me, business: Business | undefined) =>
  targetOf(sideEntries(me, business)[0] ?? { path: '/dashboard/account' }, business)
