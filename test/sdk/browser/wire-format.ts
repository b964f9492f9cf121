/** The format that the service accepts from pages. It is strict, so that a misspelt field is a fault. */
import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const strict = { additionalProperties: false }
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const count = Type.Integer({ minimum: 0 })
const optional = Type.Optional

const words = (...names: string[]) =>
  optional(Type.Object(Object.fromEntries(names.map((name) => [name, optional(text(512))])), strict))
const Touch = Type.Object(
  {
    ageMs: count,
    url: text(512),
    referrer: optional(text(512)),
    utm: words('source', 'medium', 'campaign', 'term', 'content', 'id'),
    clickIds: words('gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid'),
  },
  strict,
)
const Hit = Type.Object(
  {
    id: text(64),
    kind: Type.Union([Type.Literal('page_view'), Type.Literal('scroll'), Type.Literal('time')]),
    ageMs: count,
    pageId: text(64),
    url: text(2048),
    title: optional(text(256)),
    referrer: optional(text(2048)),
    depth: optional(Type.Union([25, 50, 75, 100].map((depth) => Type.Literal(depth)))),
    activeMs: optional(count),
    idleMs: optional(count),
  },
  strict,
)
const businessId = Type.String({ pattern: '^[0-9a-f-]{36}$' })
const visitorId = Type.String({ pattern: '^[0-9a-f]{32}$' })

export const BODIES = {
  track: Type.Object(
    {
      businessId,
      visitorId: optional(visitorId),
      event: text(64),
      details: optional(Type.Record(Type.String(), Type.Unknown())),
      messageId: text(64),
      ageMs: count,
      first: optional(Touch),
      latest: optional(Touch),
    },
    strict,
  ),
  capture: Type.Object(
    {
      businessId,
      visitorId,
      hits: Type.Array(Hit, { minItems: 1, maxItems: 50 }),
      first: optional(Touch),
      latest: optional(Touch),
    },
    strict,
  ),
  identify: Type.Object(
    {
      businessId,
      visitorId,
      identity: Type.Record(Type.String(), Type.Unknown()),
      profile: optional(Type.Record(Type.String(), Type.Unknown())),
      ageMs: count,
    },
    strict,
  ),
} as const satisfies Record<string, TSchema>

export function findFaults(route: keyof typeof BODIES, body: unknown): string[] {
  return [...Value.Errors(BODIES[route], body)].map(({ path, message }) => `${route} ${path}: ${message}`)
}
