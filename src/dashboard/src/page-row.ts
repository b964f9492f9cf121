/** What a page consists of. The front door reads it: it imports no code of pages. */
import type { IconName } from './parts/value/icon-shapes.ts'
import type { Permission } from './session/permission.ts'
import type { texts } from './texts/en/shell.ts'
import type { Section } from './texts/sections.ts'

export interface NavigationRow {
  /** Key of the label in `navigation` of the shell's texts. */
  text: Exclude<keyof (typeof texts)['navigation'], 'label'>
  icon: IconName
  /**
   * Permission that shows the entry. Null: everyone sees it. `operations`: operators see it, with or without a
   * business.
   */
  permission: Permission | 'operations' | null
  /** Heading of the entry's group. The first entries have none. */
  group?: keyof (typeof texts)['groups']
  /** Letter of the shortcut: `g`, then this letter. */
  key?: string
  /** In the menu of the signed-in person, and not in the side navigation. */
  isInMenu?: true
}

export interface PageRow {
  path: `/dashboard/${string}`
  /** The folder of `features/` with the `page.tsx` of the page, and the component that it exports. */
  code: readonly [folder: string, component: `${string}Page`]
  /** Loaded before the page is shown. */
  texts: readonly Section[]
  /** `guest`: people who are signed in are sent on. Without it, people have to sign in. */
  access?: 'anyone' | 'guest'
  /** Pages without it are reached from another page. */
  navigation?: NavigationRow
}
