/** Schemas of the body and the answer of a send call. Semantics: `readCall`. */
import { Type } from '@sinclair/typebox'
import { MESSAGE_STATES } from '../../../campaigns/read-messages.ts'
import { MAX_ATTACHMENTS, MAX_ATTACHMENT_BYTES, MAX_DATA_BYTES } from '../../../rules/calls/call.ts'
import { MESSAGE_REASONS } from '../../../rules/messages/message-reasons.ts'
import { text } from '../body-fields.ts'
import { closed, oneOf, orNull, uuid, warningList } from '../reply-fields.ts'
import { UNTRIMMED } from '../../http/check-body.ts'

const To = Type.Object(
  {
    contactId: Type.Optional(Type.String({ description: 'The id of a contact: its primary address of the channel.' })),
    email: Type.Optional(
      Type.String({ description: 'This address. No contact is made.', examples: ['ada@example.com'] }),
    ),
    phone: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description: 'This number, for SMS and WhatsApp. No contact is made.',
      }),
    ),
    platformCustomerId: Type.Optional(
      Type.Union([Type.String(), Type.Number()], {
        description: 'Your own user id: the primary address of its contact.',
      }),
    ),
  },
  { description: 'Exactly one of these.' },
)

const AttachmentSchema = Type.Object({
  filename: text(1, 255, 'Without `/`, `\\` and control characters.', 'receipt.pdf'),
  contentType: text(3, 255, 'A media type.', 'application/pdf'),
  content: Type.String({ description: 'Base64.', examples: ['JVBERi0xLjcK'], [UNTRIMMED]: true }),
  contentId: Type.Optional(text(1, 255, 'Of an image that the HTML shows by `cid:`.', 'logo')),
})

export const CallSchema = Type.Object({
  to: To,
  template: Type.String({ description: 'The id of a template. The message goes by its channel.' }),
  data: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `What the template reads under \`data\`: each name directly under it is required, and may be null. At most ${MAX_DATA_BYTES} bytes as JSON.`,
      examples: [{ code: '4711' }],
    }),
  ),
  sender: Type.Optional(
    text(
      1,
      64,
      "The key of a sender of the template's channel. Left out: the template's, or the default one.",
      'receipts',
    ),
  ),
  language: Type.Optional(text(1, 64, 'Of the variant. Left out: that of the contact, or the default one.', 'de')),
  replyTo: Type.Optional(text(1, 500, 'Of a mail: where answers go.', 'help@shop.example')),
  idempotencyKey: Type.Optional(
    text(1, 200, 'Unique for ever: a repeat sends nothing, and answers the first message.', 'receipt-9917'),
  ),
  attachments: Type.Optional(
    Type.Array(AttachmentSchema, {
      maxItems: MAX_ATTACHMENTS,
      description: `Of a mail: at most ${MAX_ATTACHMENT_BYTES} bytes together. Their contents are kept until the message is settled.`,
    }),
  ),
  validFor: Type.Optional(
    text(1, 64, 'How long it is tried, from PT10S to P3D; then it is skipped as `expired`. Left out: P1D.', 'PT10M'),
  ),
  sensitive: Type.Optional(
    Type.Boolean({ description: 'True: its data and what was rendered are deleted once it is settled.' }),
  ),
  tracking: Type.Optional(
    Type.Union(
      [Type.Boolean(), Type.Object({ opens: Type.Optional(Type.Boolean()), clicks: Type.Optional(Type.Boolean()) })],
      { description: 'Of a mail to a contact: whether opens and clicks are recorded. Left out: neither.' },
    ),
  ),
})

export const CallData = Type.Object(
  {
    messageId: uuid,
    state: oneOf(MESSAGE_STATES),
    reason: Type.Optional(orNull(oneOf(MESSAGE_REASONS))),
    deduped: Type.Optional(Type.Literal(true, { description: 'An earlier call had the same key. Nothing is sent.' })),
    warnings: warningList,
  },
  closed,
)

export const ErasedData = Type.Object(
  {
    erased: Type.Integer({ minimum: 0, description: 'Number of messages.' }),
    hasMore: Type.Boolean({ description: 'True: some are left. Call it again.' }),
  },
  closed,
)
