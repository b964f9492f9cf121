/** The side navigation, the palette and the `g` shortcuts: one entry per page. */
import type { IconName } from './parts/icon.tsx'
import type { PagePath } from './page-paths.ts'
import type { Business, Me, Permission } from './session/session.ts'
import type { texts } from './texts/en/shell.ts'

export interface NavigationEntry {
  path: PagePath
  /** Key of the label in `navigation` of the shell's texts. */
  text: Exclude<keyof (typeof texts)['navigation'], 'label'>
  icon: IconName
  /**
   * Permission that shows the entry. Null: everyone sees it. `operations`: operators see it, with or without a
   * business.
   */
  permission: Permission | null
  /** Heading of the entry's group. The first entries have none. */
  group?: keyof (typeof texts)['groups']
  /** Letter of the shortcut: `g`, then this letter. */
  key?: string
}

/** Entries in the order of the side navigation. The first one that a person may see is their first page. */
export const NAVIGATION: readonly NavigationEntry[] = [
  { path: '/dashboard/b/$businessId', text: 'home', icon: 'home', permission: 'lists:read', key: 'h' },
  {
    path: '/dashboard/b/$businessId/contacts',
    text: 'contacts',
    icon: 'people',
    permission: 'lists:read',
    group: 'people',
    key: 'c',
  },
  {
    path: '/dashboard/b/$businessId/segments',
    text: 'segments',
    icon: 'segments',
    permission: 'lists:read',
    group: 'people',
    key: 's',
  },
  {
    path: '/dashboard/b/$businessId/campaigns',
    text: 'campaigns',
    icon: 'campaign',
    permission: 'lists:read',
    group: 'people',
    key: 'm',
  },
  {
    path: '/dashboard/b/$businessId/templates',
    text: 'templates',
    icon: 'mail',
    permission: 'lists:read',
    group: 'people',
    key: 't',
  },
  {
    path: '/dashboard/b/$businessId/custom-fields',
    text: 'customFields',
    icon: 'fields',
    permission: 'lists:read',
    group: 'people',
    key: 'f',
  },
  {
    path: '/dashboard/b/$businessId/analytics',
    text: 'analytics',
    icon: 'chart',
    permission: 'lists:read',
    group: 'analytics',
    key: 'y',
  },
  {
    path: '/dashboard/b/$businessId/boards',
    text: 'boards',
    icon: 'board',
    permission: 'lists:read',
    group: 'analytics',
    key: 'v',
  },
  {
    path: '/dashboard/b/$businessId/sql',
    text: 'sql',
    icon: 'code',
    permission: 'sql:run',
    group: 'analytics',
    key: 'q',
  },
  {
    path: '/dashboard/b/$businessId/live',
    text: 'live',
    icon: 'live',
    permission: 'contacts:read',
    group: 'data',
    key: 'l',
  },
  {
    path: '/dashboard/b/$businessId/imports',
    text: 'imports',
    icon: 'import',
    permission: 'imports:write',
    group: 'data',
    key: 'i',
  },
  {
    path: '/dashboard/b/$businessId/deliveries',
    text: 'deliveries',
    icon: 'send',
    permission: 'lists:read',
    group: 'data',
    key: 'd',
  },
  { path: '/dashboard/reference', text: 'reference', icon: 'book', permission: null, group: 'data', key: 'r' },
  {
    path: '/dashboard/b/$businessId/settings/keys',
    text: 'keys',
    icon: 'key',
    permission: 'lists:read',
    group: 'settings',
    key: 'k',
  },
  {
    path: '/dashboard/b/$businessId/settings/business',
    text: 'business',
    icon: 'building',
    permission: 'lists:read',
    group: 'settings',
    key: 'b',
  },
  {
    path: '/dashboard/b/$businessId/settings/channels',
    text: 'channels',
    icon: 'send',
    permission: 'contacts:read',
    group: 'settings',
    key: 'n',
  },
  {
    path: '/dashboard/b/$businessId/settings/messages',
    text: 'messaging',
    icon: 'mail',
    permission: 'lists:read',
    group: 'settings',
    key: 'e',
  },
  {
    path: '/dashboard/b/$businessId/settings/suppressions',
    text: 'suppressions',
    icon: 'lock',
    permission: 'contacts:read',
    group: 'settings',
    key: 'x',
  },
  {
    path: '/dashboard/b/$businessId/settings/people',
    text: 'people',
    icon: 'person',
    permission: 'contacts:read',
    group: 'settings',
    key: 'p',
  },
  {
    path: '/dashboard/b/$businessId/settings/audit',
    text: 'audit',
    icon: 'list',
    permission: 'audit:read',
    group: 'settings',
    key: 'u',
  },
  {
    path: '/dashboard/operations',
    text: 'operations',
    icon: 'gauge',
    permission: 'operations',
    group: 'installation',
    key: 'o',
  },
]

/**
 * Pages of analytics other than the first: tabs there, and results in the palette. The name is also the end of the path
 * and the key of the text.
 */
export const ANALYTICS_PAGES = [
  'funnel',
  'retention',
  'revenue',
  'attribution',
  'lifecycle',
  'stages',
  'web',
  'engagement',
  'audience',
] as const

/** The account page, reached from the menu of the signed-in person. */
export const ACCOUNT: NavigationEntry = {
  path: '/dashboard/account',
  text: 'account',
  icon: 'person',
  permission: null,
  key: 'a',
}

export function visibleEntries({ user }: Me, business: Business | undefined): readonly NavigationEntry[] {
  return NAVIGATION.filter(({ path, permission }) => {
    if (permission === 'operations') return user.isOperator
    if (path.includes('$businessId') && business === undefined) return false
    return permission === null || (business?.permissions.includes(permission) ?? false)
  })
}

/** Returns the arguments of `navigate` and of links. */
export function targetOf({ path }: NavigationEntry, business: Business | undefined) {
  return { to: path, params: { businessId: business?.id ?? '' } }
}
