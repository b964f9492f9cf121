/** Mail through Resend (https://resend.com/docs/api-reference/emails/send-email). */
import { Type } from '@sinclair/typebox'
import { closed } from '../../../rules/schemas.ts'
import { checkSenders } from '../mail-settings.ts'
import { baseUrl, credential, fieldOf, httpProvider } from './http-provider.ts'
import { NO_ADDRESS, senderFields, writeMail } from './mail-fields.ts'

/** The tag of each mail, which comes back in callbacks. */
export const MESSAGE_TAG = 'sluice_message'

export const resend = httpProvider({
  name: 'resend',
  channels: ['email'],
  settings: Type.Object({ ...senderFields, baseUrl }, closed),
  secrets: Type.Object(
    {
      apiKey: credential('The API key, such as `re_…`.'),
      webhookSecret: Type.Optional(credential('The signing secret of the webhook, such as `whsec_…`.')),
    },
    closed,
  ),
  defaultUrl: () => 'https://api.resend.com',
  account: [],
  check: ({ sender, replyTo }) => checkSenders({ sender, replyTo }),
  write(message, { settings, secret, baseUrl: url }) {
    const mail = writeMail(message, settings)
    if (mail === null) return NO_ADDRESS
    const { from, to, replyTo, headers, subject, html, text, attachments } = mail
    return {
      url: `${url}/emails`,
      headers: {
        authorization: `Bearer ${secret.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': message.messageId,
      },
      body: JSON.stringify({
        from,
        to: [to],
        subject,
        html,
        text,
        reply_to: replyTo,
        headers,
        ...(attachments.length > 0 && {
          attachments: attachments.map(({ filename, contentType, contentId, base64 }) => ({
            filename,
            content: base64,
            content_type: contentType,
            ...(contentId !== null && { content_id: contentId }),
          })),
        }),
        tags: [{ name: MESSAGE_TAG, value: message.messageId }],
      }),
    }
  },
  isIdempotent: true,
  idOf: (answer) => fieldOf(answer, 'id'),
  judge(answer, status) {
    if (status !== 409) return undefined
    // A request with this key is in progress, or was accepted with other content: that of the previous attempt.
    const name = fieldOf(answer, 'name')
    if (name === 'concurrent_idempotent_requests') return 'temporary'
    return name === 'invalid_idempotent_request' ? 'unknown' : undefined
  },
})
