/** Schemas of the bodies and answers of the routes about messages of campaigns. */
import { Type } from '@sinclair/typebox'
import { MESSAGE_SOURCES, MESSAGE_STATES } from '../../../campaigns/read-messages.ts'
import { MESSAGE_CHANNELS } from '../../../rules/messages/message-channel.ts'
import { MESSAGE_REASONS } from '../../../rules/messages/message-reasons.ts'
import { closed, dateTime, nextCursor, oneOf, orNull, uuid } from '../reply-fields.ts'

export const SettleSchema = Type.Object({ state: oneOf(['sent', 'failed'] as const) })

const state = oneOf(MESSAGE_STATES)
const latestState = oneOf(MESSAGE_STATES, {
  description:
    'The latest one. `bounced`: the address does not exist, or the message came back. `failed`: it was refused for another reason, given up, or its template could not be rendered.',
})
const text = Type.Optional(Type.String())

export const messageFields = {
  messageId: uuid,
  source: oneOf(MESSAGE_SOURCES, { description: 'Whether a campaign or a send call has sent it.' }),
  campaignId: orNull(uuid),
  enrolmentId: orNull(uuid),
  contactId: orNull({ ...uuid, description: 'Null for a send call to an address of no contact.' }),
  stepId: orNull(Type.String()),
  templateId: uuid,
  channel: oneOf(MESSAGE_CHANNELS),
  state: latestState,
  reason: orNull(
    oneOf(MESSAGE_REASONS, {
      description:
        'Of a `skipped`, `failed` or `bounced` message. `ended`: the enrolment ended before another attempt. `expired`: a send call was not handed over in the time that it was valid for. `provider_refused`: refused for good; `detail` has the words.',
    }),
  ),
  detail: orNull(Type.String({ description: "The provider's own words." })),
  to: orNull(Type.String()),
  provider: orNull(Type.String()),
  sender: orNull(Type.String({ description: 'Key of the sender. Null for one that was skipped.' })),
  from: orNull(
    Type.Object(
      { address: Type.String(), name: Type.Optional(Type.String()) },
      { ...closed, description: 'The address that it was sent from. Null: not sent yet, or there is none.' },
    ),
  ),
  sentAt: orNull(dateTime),
  states: Type.Array(Type.Object({ state, at: dateTime }, closed), { description: 'In order.' }),
}

const Rendering = Type.Object(
  {
    language: Type.String(),
    subject: text,
    html: text,
    text,
    title: text,
    body: text,
    url: text,
    providerTemplate: text,
    providerLanguage: text,
    parameters: Type.Optional(Type.Array(Type.String())),
  },
  { ...closed, description: 'What was sent. Its unsubscribe link unsubscribes no person.' },
)

/** Of a message of a send call. */
const callParts = {
  data: orNull(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Null for other messages, and once it is no longer kept.',
    }),
  ),
  attachments: Type.Array(
    Type.Object(
      {
        filename: Type.String(),
        contentType: Type.String(),
        contentId: orNull(Type.String()),
        size: Type.Integer({ minimum: 0, description: 'In bytes.' }),
        sha256: Type.String({ description: 'In hex.' }),
      },
      closed,
    ),
  ),
}

const Listed = Type.Object(messageFields, closed)

export const MessagesData = Type.Object({ messages: Type.Array(Listed), nextCursor }, closed)

export const MessageData = Type.Object(
  { message: Type.Object({ ...messageFields, ...callParts, rendering: orNull(Rendering) }, closed) },
  closed,
)

export const SettledData = Type.Object({ message: Listed }, closed)
