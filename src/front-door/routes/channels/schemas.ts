/** Schemas of the bodies and answers of the channel routes. */
import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { LimitSettings } from '../../../messages/channels/limits.ts'
import { callbacksOf } from '../../../messages/callbacks/callbacks-of.ts'
import { MAX_SELECTORS } from '../../../messages/channels/check-sender.ts'
import { PROVIDERS } from '../../../messages/channels/providers.ts'
import { MAX_REASON } from '../../../messages/channels/words.ts'
import { MESSAGE_CHANNELS } from '../../../messages/templates/template.ts'
import { text } from '../body-fields.ts'
import { closed, dateTime, nextCursor, oneOf, orNull, uuid } from '../reply-fields.ts'

/** Returns the fields without `rule`, which is only for error messages. Stored secrets may be left out of a body. */
export const documented = ({ properties }: TObject, isOptional: boolean): Record<string, TSchema> =>
  Object.fromEntries(
    Object.entries<TSchema>(properties).map(([name, { rule: _, ...field }]) => [
      name,
      isOptional ? Type.Optional(field) : field,
    ]),
  )

const bodyOf = ({ name, settings, secrets }: (typeof PROVIDERS)[number]) =>
  Type.Object({
    provider: Type.Literal(name),
    ...requiredOf(settings),
    ...documented(secrets, true),
    ...documented(LimitSettings, true),
  })

function requiredOf(settings: TObject): Record<string, TSchema> {
  const fields = documented(settings, false)
  const hasDefault = (name: string) => settings.properties[name]?.['default'] !== undefined
  const isOptional = (name: string) => !settings.required?.includes(name) || hasDefault(name)
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, isOptional(name) ? Type.Optional(field) : field]),
  )
}

/** For the OpenAPI document only: `saveChannel` checks the body. */
export const ChannelSettingsSchema = Type.Union(PROVIDERS.map(bodyOf))

export const TestSchema = Type.Object({
  to: Type.Optional(
    text(
      1,
      320,
      'The address of the channel: an email address, a phone number, or for `webpush` the id of a contact, whose browsers get it. `webhook` needs none.',
      'ada@example.com',
    ),
  ),
  templateId: Type.Optional(
    Type.String({ description: 'A template of this channel. When left out: a short text of Sluice.' }),
  ),
  contactId: Type.Optional(Type.String({ description: 'Whose values the template shows.' })),
  language: Type.Optional(text(1, 64, 'In place of the language of the contact.', 'de')),
})

const channel = oneOf(MESSAGE_CHANNELS)
const limit = orNull(Type.Integer({ minimum: 1, description: 'Null: no limit.' }))
export const common = {
  channel,
  perSecond: limit,
  dailyBudget: limit,
  reserve: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'Percentage of the daily budget that marketing leaves.',
  }),
  secrets: Type.Array(Type.String(), { description: 'The names of the secrets that are stored.' }),
  updatedAt: orNull(dateTime),
  pausedAt: orNull(
    Type.String({ format: 'date-time', description: 'Its messages wait since then. Null: they do not wait.' }),
  ),
  pauseReason: orNull(Type.String()),
}

export const callback = {
  callbackUrl: Type.String({ description: 'Enter it at the provider: it reports there what became of messages.' }),
}

const shown = Type.Union(
  PROVIDERS.map(({ name, settings, keys }) =>
    Type.Object(
      {
        ...common,
        provider: Type.Literal(name),
        ...documentedAnswer(settings),
        ...keys?.settings.properties,
        ...(callbacksOf(name) && callback),
      },
      closed,
    ),
  ),
)

function documentedAnswer(settings: TObject): Record<string, TSchema> {
  const fields = documented(settings, false)
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      settings.required?.includes(name) ? field : Type.Optional(field),
    ]),
  )
}

export const ChannelData = Type.Object({ channel: shown }, closed)
export const ChannelsData = Type.Object({ channels: Type.Array(shown) }, closed)

export const TestData = Type.Object(
  {
    accepted: Type.Boolean({ description: 'The provider has taken the message.' }),
    outcome: Type.Unsafe<string>({
      ...oneOf(['accepted', 'refused', 'temporary', 'unknown'] as const),
      description:
        '`refused`: for good. `temporary`: not taken, try again later. `unknown`: handed over, but there was no answer; it may arrive.',
    }),
    provider: oneOf(PROVIDERS.map(({ name }) => name)),
    messageId: uuid,
    providerMessageId: Type.Optional(Type.String({ description: "The provider's id of the message." })),
    reason: Type.Optional(Type.String({ maxLength: MAX_REASON, description: "The provider's own words." })),
  },
  closed,
)

const part = Type.Optional(Type.String())
const message = Type.Object(
  {
    language: Type.String(),
    subject: part,
    html: part,
    text: part,
    title: part,
    body: part,
    url: part,
    providerTemplate: part,
    providerLanguage: part,
    parameters: Type.Optional(Type.Array(Type.String())),
  },
  closed,
)

export const LogData = Type.Object(
  {
    messages: Type.Array(
      Type.Object(
        {
          messageId: uuid,
          contactId: orNull(uuid),
          to: orNull(Type.String()),
          message,
          loggedAt: dateTime,
        },
        closed,
      ),
    ),
    nextCursor,
  },
  closed,
)

export const CheckSchema = Type.Object({
  selectors: Type.Optional(
    Type.Array(Type.String({ pattern: '^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$' }), {
      minItems: 1,
      maxItems: MAX_SELECTORS,
      description: 'Where the key of DKIM is: 1 to 10 selectors. When left out: the usual ones of the provider.',
      examples: [['s1']],
    }),
  ),
})

export const CheckData = Type.Object(
  {
    domain: Type.String({ description: 'Of the sender.' }),
    findings: Type.Array(
      Type.Object(
        {
          record: oneOf(['spf', 'dkim', 'dmarc'] as const),
          state: Type.Unsafe<string>({
            ...oneOf(['ok', 'weak', 'missing', 'wrong', 'unknown'] as const),
            description:
              '`weak`: it works, and could say more. `wrong`: receivers ignore it. `unknown`: it was not found, or could not be looked up.',
          }),
          name: Type.String({ description: 'Where the record is, or should be.' }),
          found: Type.Array(Type.String(), { description: 'The records there.' }),
          message: Type.String(),
          publish: orNull(Type.String({ description: 'What to publish there.' })),
        },
        closed,
      ),
    ),
  },
  closed,
)
