/** The body with what the browser script captures automatically (docs/browser.md). Lengths apply after trimming. */
import { type Static, Type } from '@sinclair/typebox'
import { HIT_KINDS } from '../../../rules/visitors/web-facts.ts'
import { browserVisitorId, TouchSchema } from './track-schema.ts'

const MAX_HITS = 50
const URL_LENGTH = 2048

const id = (description: string) => Type.String({ minLength: 1, maxLength: 64, description })
const text = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }))
const ms = (description: string) => Type.Integer({ minimum: 0, description })

const HitSchema = Type.Object({
  id: id('The id of the hit. A hit that is sent twice counts once.'),
  kind: Type.Union(HIT_KINDS.map((kind) => Type.Literal(kind))),
  ageMs: ms('How many milliseconds ago, by the clock of the browser. More than a week counts as a week.'),
  pageId: id('The page view that it belongs to.'),
  url: Type.String({ minLength: 1, maxLength: URL_LENGTH, description: 'The address of the page.' }),
  title: text(256, 'The title of the page, in a page view.'),
  referrer: text(URL_LENGTH, 'The previous page, in a page view that came from another site.'),
  depth: Type.Optional(Type.Union([25, 50, 75, 100].map((depth) => Type.Literal(depth)))),
  activeMs: Type.Optional(ms('In a hit of kind time: active milliseconds.')),
  idleMs: Type.Optional(ms('In a hit of kind time: idle milliseconds.')),
})

export const CaptureSchema = Type.Object({
  businessId: Type.Optional(Type.String({ description: 'The business that the page belongs to.' })),
  visitorId: browserVisitorId,
  hits: Type.Array(HitSchema, { minItems: 1, maxItems: MAX_HITS }),
  first: Type.Optional(TouchSchema),
  latest: Type.Optional(TouchSchema),
})

export type HitBody = Static<typeof HitSchema>
export type CaptureBody = Static<typeof CaptureSchema>
