/** WhatsApp through Meta's Cloud API (https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages). */
import { Type } from '@sinclair/typebox'
import { faultOf } from '../../../rules/faults.ts'
import type { Blame } from '../../../rules/messages/blame.ts'
import { closed } from '../../../rules/schemas.ts'
import type { RenderedMessage } from '../../templates/template.ts'
import { baseUrl, credential, fieldOf, httpProvider } from './http-provider.ts'

/** Codes with which Meta throttles, whatever the status: the message was not accepted. */
const TOO_MANY = new Set([4, 80_007, 130_429, 131_056])

export const meta = httpProvider({
  name: 'meta',
  channels: ['whatsapp'],
  settings: Type.Object(
    {
      phoneNumberId: Type.String({
        pattern: '^[0-9]{1,32}$',
        rule: faultOf('', 'phone_number_id'),
        description: 'The id of the phone number at Meta: 1 to 32 digits.',
        examples: ['106540352242922'],
      }),
      baseUrl,
    },
    closed,
  ),
  secrets: Type.Object(
    {
      token: credential('The access token of a system user.'),
      appSecret: Type.Optional(credential('The secret of the app, by which callbacks are signed.')),
      verifyToken: Type.Optional(credential('A word of your own, which Meta repeats when you enter the callback.')),
    },
    closed,
  ),
  defaultUrl: () => 'https://graph.facebook.com/v23.0',
  account: ['phoneNumberId'],
  write({ messageId, to, message }, { settings: { phoneNumberId }, secret: { token }, baseUrl: url }) {
    if (to === null) return { refused: 'it is not a phone number' }
    return {
      url: `${url}/${phoneNumberId}/messages`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: to.replace(/^\+/, ''),
        ...contentOf(message),
        biz_opaque_callback_data: messageId,
      }),
    }
  },
  isIdempotent: false,
  idOf: (answer) => fieldOf(firstOf(fieldOf(answer, 'messages')), 'id'),
  recipientIdOf: (answer) => fieldOf(firstOf(fieldOf(answer, 'contacts')), 'wa_id'),
  judge: (answer, status) =>
    status >= 400 && status < 500 && TOO_MANY.has(Number(fieldOf(fieldOf(answer, 'error'), 'code')))
      ? 'temporary'
      : undefined,
  blame: (answer) => metaBlame(fieldOf(fieldOf(answer, 'error'), 'code')),
})

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined)

/** A template that Meta has approved, or a text, which reaches only a person who has written within 24 hours. */
function contentOf({
  text = '',
  language,
  providerTemplate: name,
  providerLanguage,
  parameters = [],
}: RenderedMessage) {
  if (name === undefined) return { type: 'text', text: { preview_url: false, body: text } }
  const body = { type: 'body', parameters: parameters.map((value) => ({ type: 'text', text: value })) }
  return {
    type: 'template',
    template: {
      name,
      language: { code: providerLanguage ?? language },
      ...(parameters.length > 0 && { components: [body] }),
    },
  }
}

/** Error codes for a person who cannot be reached, gets too many such messages, or has not written within 24 hours. */
const OF_RECIPIENT = new Set([130_472, 131_026, 131_047, 131_049, 131_050])

export const metaBlame = (code: unknown): Blame => (OF_RECIPIENT.has(Number(code)) ? 'recipient' : 'sender')
