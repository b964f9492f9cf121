/**
 * Fields that several answers share. The schemas describe the `data` of an answer in the OpenAPI document; tests check
 * real answers against them.
 */
import { Type } from '@sinclair/typebox'
import { INTERPRETED_TYPES } from '../../rules/events/facts.ts'
import { closed, oneOf, orNull } from '../../rules/schemas.ts'

export { closed, dateTime, oneOf, orNull, uuid } from '../../rules/schemas.ts'

export const count = Type.Integer({ minimum: 0 })

export const warningList = Type.Optional(
  Type.Array(Type.String(), {
    description: 'The request succeeded, but part of it was changed or ignored. Absent when there are no warnings.',
  }),
)

export const interpretation = Type.Object(
  { type: oneOf(INTERPRETED_TYPES), countedRevenue: Type.Number() },
  { ...closed, description: 'What the event counts as, and the revenue that it adds.' },
)

export const subscriptionStates = Type.Object(
  { email: Type.Boolean(), sms: Type.Boolean(), whatsapp: Type.Boolean(), push: Type.Boolean() },
  closed,
)

export const ignoredBot = Type.Optional(
  Type.Literal('bot', {
    description: 'Nothing was recorded, because the `User-Agent` is that of a bot or a headless browser.',
  }),
)

export const QueuedTrackData = Type.Object(
  { queued: Type.Literal(true), event: Type.String(), interpreted: interpretation },
  closed,
)

export const QueuedData = Type.Object({ queued: Type.Literal(true) }, closed)

/** Of items that fail alone. */
const refusedItem = {
  index: Type.Integer({ minimum: 0, description: 'Its place in what was sent.' }),
  error: Type.String(),
}

export const failureList = Type.Array(Type.Object(refusedItem, closed))

const issue = Type.Object(
  {
    path: Type.String(),
    message: Type.String(),
    code: Type.Optional(Type.String()),
    values: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
  },
  closed,
)

export const issueList = Type.Array(issue, {
  description: 'What `error` says, for a page in another language. Empty where that has no code.',
})

/** Of an endpoint that pages call, too. */
export const pageFailureList = Type.Array(
  Type.Object(
    {
      ...refusedItem,
      issues: Type.Optional({ ...issueList, description: `To the dashboard only. ${issueList.description}` }),
    },
    closed,
  ),
)

export const nextCursor = orNull(
  Type.String({ description: 'Send it as `cursor` to get the next page. Null on the last page.' }),
)
