/** A trigger by the browser's automatic capture (campaigns, "A campaign"). */
import { compileWhere } from '../segments/compile/compile-where.ts'
import type { PropertyCondition } from '../segments/rule.ts'
import type { HitKind } from '../visitors/web-facts.ts'

/** Names in requests, by the names that the browser sends. */
export const WEB_TRIGGERS = {
  page_view: 'page_view',
  scroll: 'scroll_depth',
  time: 'active_time',
} as const satisfies Record<HitKind, string>
export type WebTriggerName = (typeof WEB_TRIGGERS)[HitKind]
export const WEB_TRIGGER_NAMES = Object.values(WEB_TRIGGERS)

/**
 * Maximum number of published or paused campaigns per business, because every capture is compared with the conditions
 * of all of them.
 */
export const MAX_WEB_CAMPAIGNS = 100

export interface WebTrigger {
  web: WebTriggerName
  /** All conditions must hold. Absent: every capture triggers. */
  where?: PropertyCondition[]
}

/** Values that conditions may read, and whether they are numbers. */
export const WEB_PROPERTIES: Record<WebTriggerName, Record<string, 'text' | 'number'>> = {
  page_view: { path: 'text', host: 'text' },
  scroll_depth: { path: 'text', host: 'text', depth: 'number' },
  active_time: { path: 'text', host: 'text', seconds: 'number' },
}

/** Of a page view. `depth`: percentage of the page that was seen; `seconds`: active seconds so far. */
export interface SeenPage {
  path: string
  host: string
  depth?: number
  seconds?: number
}

export type WebTest = (page: SeenPage) => boolean

export function compileWebTrigger({ where = [] }: Pick<WebTrigger, 'where'>): WebTest {
  const fits = compileWhere(where)
  return (page) => fits({ value: null, currency: null, type: 'none', properties: () => page })
}
