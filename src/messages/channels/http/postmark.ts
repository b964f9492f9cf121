/** Mail through Postmark (https://postmarkapp.com/developer/api/email-api). */
import { Type } from '@sinclair/typebox'
import { faultOf } from '../../../rules/faults.ts'
import { closed } from '../../../rules/schemas.ts'
import { checkSenders } from '../mail-settings.ts'
import { baseUrl, credential, fieldOf, httpProvider } from './http-provider.ts'
import { NO_ADDRESS, senderFields, writeMail } from './mail-fields.ts'

/** The metadata field of each mail, which comes back in callbacks. At most 20 characters. */
export const MESSAGE_FIELD = 'sluice-message'

/** Postmark no longer sends to the address: it has bounced, or its owner has complained or unsubscribed there. */
const INACTIVE = 406

export const postmark = httpProvider({
  name: 'postmark',
  channels: ['email'],
  settings: Type.Object(
    {
      ...senderFields,
      messageStream: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{1,100}$',
          rule: faultOf('', 'message_stream'),
          description: 'The id of a message stream. Marketing needs one of the type broadcast. Default: `outbound`.',
          examples: ['broadcast'],
        }),
      ),
      webhookUser: Type.Optional(
        Type.String({
          pattern: '^[^\\x00-\\x1f\\x7f:]{1,320}$',
          rule: faultOf('', 'name_without_colon', { max: 320 }),
          description: 'The user name that callbacks bring: 1 to 320 characters, without a colon.',
          examples: ['sluice'],
        }),
      ),
      baseUrl,
    },
    closed,
  ),
  secrets: Type.Object(
    {
      serverToken: credential('The API token of the server.'),
      webhookPassword: Type.Optional(credential('The password that callbacks bring.')),
    },
    closed,
  ),
  defaultUrl: () => 'https://api.postmarkapp.com',
  account: [],
  check: ({ sender, replyTo }) => checkSenders({ sender, replyTo }),
  write(message, { settings, secret, baseUrl: url }) {
    const mail = writeMail(message, settings)
    if (mail === null) return NO_ADDRESS
    const { from, to, replyTo, headers, subject, html, text, attachments } = mail
    // Without the last header, Postmark would write its own Message-ID.
    const all = { ...headers, 'X-PM-KeepID': 'true' }
    return {
      url: `${url}/email`,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'x-postmark-server-token': secret.serverToken,
      },
      body: JSON.stringify({
        From: from,
        To: to,
        ReplyTo: replyTo,
        Subject: subject,
        HtmlBody: html,
        TextBody: text,
        Headers: Object.entries(all).map(([Name, Value]) => ({ Name, Value })),
        Metadata: { [MESSAGE_FIELD]: message.messageId },
        MessageStream: settings.messageStream,
        ...(attachments.length > 0 && {
          Attachments: attachments.map(({ filename, contentType, contentId, base64 }) => ({
            Name: filename,
            ContentType: contentType,
            Content: base64,
            ...(contentId !== null && { ContentID: `cid:${contentId}` }),
          })),
        }),
      }),
    }
  },
  isIdempotent: false,
  idOf: (answer) => fieldOf(answer, 'MessageID'),
  blame: (answer) => (fieldOf(answer, 'ErrorCode') === INACTIVE ? 'recipient' : undefined),
})
