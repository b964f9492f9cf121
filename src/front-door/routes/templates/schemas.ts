/** Schemas of the bodies and answers of the template routes. */
import { Type } from '@sinclair/typebox'
import { MAX_VARIANTS } from '../../../messages/templates/read-variants.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../../../messages/templates/template.ts'
import { text } from '../body-fields.ts'
import { closed, dateTime, nextCursor, oneOf, orNull, uuid, warningList } from '../reply-fields.ts'

const name = text(1, 256, 'A name for people.', 'Welcome')
const channel = Type.Unsafe<MessageChannel>({ ...oneOf(MESSAGE_CHANNELS), description: 'How it is sent.' })
const sentVariants = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
  description:
    `By language, at most ${MAX_VARIANTS}, each of at most 256 KiB. \`email\`: \`subject\` and \`html\`, \`mjml\` or \`text\`; \`sms\`: \`text\`; ` +
    '`whatsapp`: `providerTemplate` with `parameters`, or `text`; `push`: `title`, `body` and `url`; `webhook`: `body`, which is JSON.',
})
const defaultLanguage = text(1, 64, 'The variant for everyone else.', 'en')

const sentSender = Type.Optional(
  orNull(Type.String({ description: 'Key of a sender of the channel. Null: that of the campaign, or the default.' })),
)

export const NewTemplateSchema = Type.Object({
  name,
  channel,
  sender: sentSender,
  variants: sentVariants,
  defaultLanguage,
})

export const TemplateChangeSchema = Type.Object({
  name: Type.Optional(name),
  sender: sentSender,
  variants: Type.Optional(sentVariants),
  defaultLanguage: Type.Optional(defaultLanguage),
})

export const PreviewTemplateSchema = Type.Object({
  contactId: Type.Optional(
    Type.String({ description: 'Whose values are shown. When left out: of a person of whom nothing is known.' }),
  ),
  language: Type.Optional(text(1, 64, 'In place of the language of the contact.', 'de')),
  event: Type.Optional(
    Type.Object(
      {
        name: text(1, 64, 'Its name.', 'cart_abandoned'),
        properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      },
      { description: 'The event that triggers the campaign.' },
    ),
  ),
  data: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'The data of a send call.',
      examples: [{ code: '4711' }],
    }),
  ),
})

const shared = {
  templateId: uuid,
  name: Type.String(),
  channel: oneOf(MESSAGE_CHANNELS),
  sender: Type.Optional(Type.String({ description: 'Key of its sender, if it names one.' })),
  defaultLanguage: Type.String(),
  version: Type.Integer({ minimum: 1, description: 'Goes up with each change of what is sent.' }),
  createdAt: dateTime,
  updatedAt: dateTime,
}

const variant = Type.Object(
  {
    subject: Type.Optional(Type.String()),
    html: Type.Optional(Type.String()),
    mjml: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
    title: Type.Optional(Type.String()),
    body: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
    providerTemplate: Type.Optional(Type.String()),
    providerLanguage: Type.Optional(Type.String()),
    parameters: Type.Optional(Type.Array(Type.String())),
  },
  closed,
)

/** The keys are languages. */
const variants = Type.Record(Type.String({ pattern: '^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$' }), variant)

export const TemplateData = Type.Object({ template: Type.Object({ ...shared, variants }, closed) }, closed)

/** Of a template that was saved. */
export const SavedTemplateData = Type.Object(
  { template: Type.Object({ ...shared, variants }, closed), warnings: warningList },
  closed,
)

export const TemplatesData = Type.Object(
  { templates: Type.Array(Type.Object({ ...shared, languages: Type.Array(Type.String()) }, closed)), nextCursor },
  closed,
)

export const DeletedTemplateData = Type.Object({ templateId: uuid }, closed)

const { mjml: _, ...sentParts } = variant.properties

export const RenderedMessageSchema = Type.Object({ language: Type.String(), ...sentParts }, closed)

const sms = Type.Object(
  {
    encoding: oneOf(['GSM-7', 'UCS-2']),
    characters: Type.Integer({ minimum: 0, description: 'Some count twice, such as € and emoji.' }),
    segments: Type.Integer({ minimum: 0, description: 'What the provider charges for.' }),
  },
  { ...closed, description: 'Of an SMS: its size.' },
)

export const PreviewTemplateData = Type.Object({ message: RenderedMessageSchema, sms: Type.Optional(sms) }, closed)
