/**
 * The automatic captures of a browser, as the stream carries them from the front door to the workers. Times are epoch
 * ms.
 */
import { type Static, Type } from '@sinclair/typebox'
import { Touch } from '../events/facts.ts'

export const HIT_KINDS = ['page_view', 'scroll', 'time'] as const
export type HitKind = (typeof HIT_KINDS)[number]

const text = Type.String()
const whole = Type.Integer({ minimum: 0, maximum: 8.64e15 })

/** One captured action. Fields that its kind does not use are empty or 0. */
export const WebHit = Type.Object({
  /** Created by the browser, so that a hit that is sent twice counts once. */
  id: text,
  kind: Type.Unsafe<HitKind>(Type.Union(HIT_KINDS.map((kind) => Type.Literal(kind)))),
  /** The page view that it belongs to. */
  pageId: text,
  occurredAt: whole,
  url: text,
  title: text,
  referrer: text,
  /** Percentage of the page: 25, 50, 75 or 100. */
  depth: whole,
  activeMs: whole,
  idleMs: whole,
})
export type WebHit = Static<typeof WebHit>

const TouchOrNull = Type.Union([Touch, Type.Null()])
export const Touches = Type.Object({ first: TouchOrNull, latest: TouchOrNull })
export type Touches = Static<typeof Touches>
