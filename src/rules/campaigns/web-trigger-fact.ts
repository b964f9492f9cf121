/** A browser's automatic capture that may start a campaign. */
import { type Static, Type } from '@sinclair/typebox'
import { oneOf } from '../schemas.ts'
import { WEB_TRIGGER_NAMES } from './web-trigger.ts'

const uuid = Type.String({ pattern: '^[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}$' })

/** One page view for one campaign. */
export const FiredTrigger = Type.Object({
  campaignId: uuid,
  name: oneOf(WEB_TRIGGER_NAMES),
  pageId: Type.String(),
  /** Epoch milliseconds. */
  occurredAt: Type.Integer({ minimum: -8.64e15, maximum: 8.64e15 }),
  page: Type.Object({
    path: Type.String(),
    host: Type.String(),
    depth: Type.Optional(Type.Number()),
    seconds: Type.Optional(Type.Number()),
  }),
})
export type FiredTrigger = Static<typeof FiredTrigger>

/** As it is in the stream. */
export const WebTriggerFact = Type.Object({ visitorId: Type.String(), fired: Type.Array(FiredTrigger) })
export type WebTriggerFact = Static<typeof WebTriggerFact>

/** A page view starts a campaign once. No caller can send such a text as an idempotency key. */
export const firedKey = (visitorId: string, { pageId, campaignId }: FiredTrigger): string =>
  `web\0${visitorId}\0${pageId}\0${campaignId}`
