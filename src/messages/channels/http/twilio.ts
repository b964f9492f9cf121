/** Texts through Twilio (https://www.twilio.com/docs/messaging/api/message-resource). */
import { Type } from '@sinclair/typebox'
import { faultOf } from '../../../rules/faults.ts'
import type { Blame } from '../../../rules/messages/blame.ts'
import { closed } from '../../../rules/schemas.ts'
import { baseUrl, credential, fieldOf, httpProvider } from './http-provider.ts'

/** The parameter with the URL for status reports. */
export const MESSAGE_PARAMETER = 'message'

export const twilio = httpProvider({
  name: 'twilio',
  channels: ['sms'],
  settings: Type.Object(
    {
      accountSid: Type.String({
        pattern: '^AC[0-9A-Za-z]{1,62}$',
        rule: faultOf('', 'account_sid'),
        description: 'The SID of the account, which begins with `AC`.',
        examples: ['AC0123456789abcdef0123456789abcdef'],
      }),
      from: Type.String({
        pattern: '^(\\+[1-9][0-9]{6,14}|[0-9]{3,8}|MG[0-9A-Fa-f]{32}|[A-Za-z0-9][A-Za-z0-9 +_&-]{0,10})$',
        rule: faultOf('', 'twilio_sender'),
        description:
          'A phone number, a short code, a sender ID of at most 11 characters, or a messaging service (`MG…`).',
        examples: ['+15005550006'],
      }),
      baseUrl,
    },
    closed,
  ),
  secrets: Type.Object({ authToken: credential('The auth token of the account.') }, closed),
  defaultUrl: () => 'https://api.twilio.com',
  account: ['accountSid'],
  write(
    { messageId, to, message },
    { settings: { accountSid, from }, secret: { authToken }, baseUrl: url, callbackUrl },
  ) {
    if (to === null) return { refused: 'it is not a phone number' }
    const sender = /^MG[0-9A-Fa-f]{32}$/.test(from) ? 'MessagingServiceSid' : 'From'
    return {
      url: `${url}/2010-04-01/Accounts/${accountSid}/Messages.json`,
      headers: {
        authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        To: to,
        [sender]: from,
        Body: message.text ?? '',
        ...(callbackUrl !== undefined && { StatusCallback: `${callbackUrl}?${MESSAGE_PARAMETER}=${messageId}` }),
      }).toString(),
    }
  },
  isIdempotent: false,
  idOf: (answer) => fieldOf(answer, 'sid'),
  blame: (answer) => twilioBlame(Number(fieldOf(answer, 'code'))),
})

/**
 * Error codes (https://www.twilio.com/docs/api/errors): a number that does not exist or cannot receive texts; one that
 * cannot be reached now; and what is wrong with the account, the sender's number or its registration, or the content.
 */
const HARD = [21_211, 21_614, 21_635, 30_005, 30_006]
const UNREACHED = [30_003, 30_004, 30_008, 30_017, 30_036, 30_410]
const OF_SENDER = [
  30_001, 30_002, 30_007, 30_010, 30_018, 30_019, 30_022, 30_023, 30_024, 30_027, 30_032, 30_033, 30_034, 30_035,
  30_037, 30_038, 30_039, 30_040, 30_044,
]
const BLAMES = new Map<number, Blame>([
  [21_610, 'stop'],
  ...HARD.map((code) => [code, 'hard_bounce'] as const),
  ...UNREACHED.map((code) => [code, 'recipient'] as const),
  ...OF_SENDER.map((code) => [code, 'sender'] as const),
])

/** Undefined for any other code. */
export const twilioBlame = (code: number): Blame | undefined => BLAMES.get(code)
