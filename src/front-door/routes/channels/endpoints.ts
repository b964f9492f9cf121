/** The endpoints about channels. */
import { MAX_LOGGED } from '../../../messages/channels/logged-messages.ts'
import { MAX_TESTS_A_DAY } from '../../../messages/channels/send-test.ts'
import { PAGE_QUERY } from '../../http/read-page.ts'
import { CHANNEL_EXAMPLE, CHANNEL_SETTINGS_EXAMPLE, LOGGED_MESSAGE_EXAMPLE } from '../../openapi/examples.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import * as manage from './manage.ts'
import * as schemas from './schemas.ts'

const tag = 'Messages'
const { channel } = CHANNEL_EXAMPLE
const UNSET_EXAMPLE = {
  channel,
  provider: 'log',
  perSecond: null,
  dailyBudget: null,
  reserve: 0,
  secrets: [],
  updatedAt: null,
  pausedAt: null,
  pauseReason: null,
}
const channelReply = (message: string, example: object) => ({
  200: {
    message,
    description: 'The channel, without its secrets.',
    data: schemas.ChannelData,
    example: { channel: example },
  },
})

export const channelEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: '/channels',
    permission: 'lists:read',
    handler: manage.getChannels,
    operation: {
      summary: 'List the channels',
      description: 'All of them. One that was never set up has the provider `log`.',
      tag,
      replies: {
        200: {
          message: manage.LISTED,
          description: 'The channels, without their secrets.',
          data: schemas.ChannelsData,
          example: { channels: [CHANNEL_EXAMPLE] },
        },
      },
    },
    errors: [],
  },
  {
    method: 'GET',
    path: '/channels/:channel',
    permission: 'lists:read',
    handler: manage.getChannel,
    operation: { summary: 'Read a channel', tag, replies: channelReply(manage.READ, CHANNEL_EXAMPLE) },
    errors: ['not_found'],
  },
  {
    method: 'POST',
    path: '/channels/:channel/test',
    permission: 'audience:write',
    handler: manage.postTest,
    operation: {
      summary: 'Send a test message',
      description: `Sends one message now, whatever the consent, and waits at most 12 seconds for the provider. Its unsubscribe link unsubscribes no person. At most ${MAX_TESTS_A_DAY} in 24 hours.`,
      tag,
      body: { schema: schemas.TestSchema, example: { to: 'ada@example.com' } },
      replies: {
        200: {
          message: manage.TESTED,
          description: 'What the provider said, refusals too.',
          data: schemas.TestData,
          example: {
            accepted: false,
            outcome: 'refused',
            provider: 'smtp',
            messageId: LOGGED_MESSAGE_EXAMPLE.messageId,
            reason: '550 5.1.1 no such mailbox',
          },
        },
      },
    },
    errors: ['not_found', 'limit_reached'],
  },
  {
    method: 'GET',
    path: '/channels/:channel/log',
    permission: 'contacts:read',
    handler: manage.getLog,
    operation: {
      summary: 'Read the log of a channel',
      description: `The messages that the provider \`log\` has kept in place of sending them: the newest ${MAX_LOGGED.toLocaleString('en-US')}.`,
      tag,
      query: PAGE_QUERY,
      replies: {
        200: {
          message: manage.LOGGED,
          description: 'Newest first.',
          data: schemas.LogData,
          example: { messages: [LOGGED_MESSAGE_EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'PUT',
    path: '/channels/:channel',
    permission: 'destinations:write',
    handler: manage.putChannel,
    operation: {
      summary: 'Set up a channel',
      description:
        'Replaces all settings, and resumes the channel if it is paused. A secret that you leave out stays as it is, unless it would go to another host or user. ' +
        '`log`: any channel; `smtp`, `resend`, `postmark`, `ses`: `email`; `twilio`: `sms`; `meta`: `whatsapp`; `webpush`: `push`, with keys that are made the first time; `webhook`: `webhook`.',
      tag,
      body: { schema: schemas.ChannelSettingsSchema, example: CHANNEL_SETTINGS_EXAMPLE },
      replies: channelReply(manage.SAVED, CHANNEL_EXAMPLE),
    },
    errors: ['not_found'],
  },
  {
    method: 'POST',
    path: '/channels/:channel/resume',
    permission: 'destinations:write',
    handler: manage.postResume,
    operation: {
      summary: 'Resume a channel',
      description: 'What waits for it goes on at once. A channel that is not paused stays as it is.',
      tag,
      replies: channelReply(manage.RESUMED, CHANNEL_EXAMPLE),
    },
    errors: ['not_found'],
  },
  {
    method: 'POST',
    path: '/channels/:channel/check',
    permission: 'audience:write',
    handler: manage.postCheck,
    operation: {
      summary: 'Check the domain of the sender',
      description:
        'Looks up SPF, DKIM and DMARC of the domain of `sender`, and says what to publish. It takes at most 5 seconds.',
      tag,
      body: { schema: schemas.CheckSchema, example: { selectors: ['s1'] } },
      replies: {
        200: {
          message: manage.CHECKED,
          description: 'One finding for each of the three.',
          data: schemas.CheckData,
          example: {
            domain: 'shop.example',
            findings: [
              {
                record: 'dmarc',
                state: 'weak',
                name: '_dmarc.shop.example',
                found: ['v=DMARC1; p=none'],
                message: 'The record only asks for reports. Read them, and go on to p=quarantine.',
                publish: 'v=DMARC1; p=quarantine',
              },
            ],
          },
        },
      },
    },
    errors: ['not_found'],
  },
  {
    method: 'DELETE',
    path: '/channels/:channel',
    permission: 'destinations:write',
    handler: manage.deleteChannel,
    operation: {
      summary: 'Delete the settings of a channel',
      description: 'Its provider is `log` again.',
      tag,
      replies: channelReply(manage.REMOVED, UNSET_EXAMPLE),
    },
    errors: ['not_found'],
  },
]
