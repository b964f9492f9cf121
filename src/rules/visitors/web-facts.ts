/** What a browser tells by itself, as it travels from the front door to the workers. Instants are epoch ms. */
import type { Touch } from '../events/facts.ts'

export const HIT_KINDS = ['page_view', 'scroll', 'time'] as const
export type HitKind = (typeof HIT_KINDS)[number]

/** One thing that was captured. What its kind does not tell is empty or 0. */
export interface WebHit {
  /** Made by the browser: one that is sent twice counts once. */
  id: string
  kind: HitKind
  /** The page view that it belongs to. */
  pageId: string
  occurredAt: number
  url: string
  title: string
  referrer: string
  /** Per cent of the page: 25, 50, 75 or 100. */
  depth: number
  activeMs: number
  idleMs: number
}

export interface Touches {
  first: Touch | null
  latest: Touch | null
}
