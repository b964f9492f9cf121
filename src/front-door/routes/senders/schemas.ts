/** Schemas of the bodies and answers of the sender routes. */
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { callbacksOf } from '../../../messages/callbacks/callbacks-of.ts'
import { LimitSettings } from '../../../messages/channels/limits.ts'
import { PROVIDERS } from '../../../messages/channels/providers.ts'
import { SENDER_STATUSES } from '../../../messages/channels/show-sender.ts'
import { MAX_SENDER_KEY, SENDER_KEY } from '../../../rules/campaigns/read-senders.ts'
import { MESSAGE_CHANNELS } from '../../../messages/templates/template.ts'
import { CheckData, callback, common, documented } from '../channels/schemas.ts'
import { closed, dateTime, nextCursor, oneOf, orNull } from '../reply-fields.ts'

const key = Type.String({ pattern: SENDER_KEY.source, maxLength: MAX_SENDER_KEY })
const address = Type.Object({ address: Type.String(), name: Type.Optional(Type.String()) }, closed)

const sentAddress = Type.Optional(
  Type.Union([address, Type.String()], {
    description: 'Where messages come from. For email it is `sender`, in two parts; for WhatsApp `phoneNumberId`.',
  }),
)
const sentFallback = Type.Optional(
  orNull(
    Type.String({ description: 'The sender that takes its messages while it is paused or unreachable. Null: none.' }),
  ),
)
const optional = (fields: Record<string, TSchema>): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)]))
const settingsOf = ({ settings, secrets }: { settings: TObject; secrets: TObject }) => ({
  ...optional(documented(settings, true)),
  ...documented(secrets, true),
  ...documented(LimitSettings, true),
  from: sentAddress,
  fallback: sentFallback,
  isDefault: Type.Optional(Type.Boolean({ description: 'True makes it the default sender of its channel.' })),
})

const created = { key, channel: oneOf(MESSAGE_CHANNELS) }
const viaBody = {
  from: Type.Union([address, Type.String()]),
  replyTo: Type.Optional(Type.String()),
  fallback: sentFallback,
}

/** For the OpenAPI document only: `createSender` and `updateSender` check the bodies. */
export const NewSenderSchema = Type.Union([
  ...PROVIDERS.map((one) => Type.Object({ ...created, provider: Type.Literal(one.name), ...settingsOf(one) })),
  Type.Object({
    ...created,
    via: Type.String({ description: 'The sender whose connection it uses, with its limits, pauses and callbacks.' }),
    ...viaBody,
  }),
])
export const SenderChangeSchema = Type.Union(
  PROVIDERS.map((one) => Type.Object({ provider: Type.Optional(Type.Literal(one.name)), ...settingsOf(one) })),
)

const check = orNull(
  Type.Object(
    {
      at: dateTime,
      ...CheckData.properties,
      selectors: Type.Optional(Type.Array(Type.String())),
    },
    { ...closed, description: 'The records that were found last. Null: nobody has looked.' },
  ),
)

const shown = Type.Union(
  PROVIDERS.map(({ name, settings, keys }) =>
    Type.Object(
      {
        ...optional(documented(settings, false)),
        ...keys?.settings.properties,
        ...common,
        key,
        isDefault: Type.Boolean(),
        provider: Type.Literal(name),
        from: orNull(address),
        via: orNull(Type.String({ description: 'The sender whose connection it uses.' })),
        fallback: orNull(Type.String()),
        usedToday: orNull(
          Type.Integer({
            minimum: 0,
            description: "Turns of today's budget that its connection has taken. Null: no budget.",
          }),
        ),
        status: oneOf(SENDER_STATUSES, { description: 'Of its connection. `unreachable`: no connection came about.' }),
        ...(callbacksOf(name) && callback),
        check,
      },
      closed,
    ),
  ),
)

export const SenderData = Type.Object({ sender: shown }, closed)
export const SendersData = Type.Object({ senders: Type.Array(shown), nextCursor }, closed)
const count = Type.Integer({ minimum: 0 })
const day = Type.String({ description: 'In the zone of the business, such as 2026-11-24.' })
const budget = orNull(Type.Integer({ description: 'Null: no limit.' }))

export const SenderReportData = Type.Object(
  {
    key,
    days: Type.Array(
      Type.Object(
        {
          day,
          sent: count,
          delivered: count,
          bounced: count,
          complained: count,
          failed: count,
          unknown: count,
          retried: Type.Integer({ minimum: 0, description: 'Of these, those that were tried more than once.' }),
        },
        closed,
      ),
      {
        description: 'Days with messages, oldest first. A message counts in its latest state, on the day of its claim.',
      },
    ),
    today: Type.Object(
      { day, dailyBudget: budget, reserve: count, used: count },
      {
        ...closed,
        description: 'The budget of the present day, and how many turns of it are taken. Of its connection.',
      },
    ),
  },
  closed,
)

export const DeletedSenderData = Type.Object({ key }, closed)
