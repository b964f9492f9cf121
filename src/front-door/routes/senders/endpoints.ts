/** The endpoints about senders. */
import { MAX_SENDERS } from '../../../messages/channels/change-sender.ts'
import { MAX_REPORT_DAYS } from '../../../messages/channels/report-sender.ts'
import { MAX_TESTS_A_DAY } from '../../../messages/channels/send-test.ts'
import { PAGE_QUERY } from '../../http/read-page.ts'
import { LOGGED_MESSAGE_EXAMPLE, NEW_SENDER_EXAMPLE, SENDER_EXAMPLE } from '../../openapi/examples.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { TESTED } from '../channels/manage.ts'
import { CheckSchema, TestData, TestSchema } from '../channels/schemas.ts'
import * as manage from './manage.ts'
import * as schemas from './schemas.ts'

const tag = 'Messages'
const query = {
  channel: {
    description: 'The channel of the sender. Needed for `default`, which every channel has, once several are set up.',
    schema: { type: 'string' },
    example: 'email',
  },
}
const instant = (description: string) => ({ description, schema: { type: 'string', format: 'date-time' } })
const range = { from: instant('The earliest claim that counts.'), to: instant('The latest one.') }
const senderReply = (message: string) => ({
  200: {
    message,
    description: 'The sender, without its secrets.',
    data: schemas.SenderData,
    example: { sender: SENDER_EXAMPLE },
  },
})

export const senderEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: '/senders',
    permission: 'lists:read',
    handler: manage.getSenders,
    operation: {
      summary: 'List the senders',
      description:
        'By channel and key. Every channel has its sender `default`, of the provider `log` unless it is set up.',
      tag,
      query: PAGE_QUERY,
      replies: {
        200: {
          message: manage.LISTED,
          description: 'The senders, without their secrets.',
          data: schemas.SendersData,
          example: { senders: [SENDER_EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'POST',
    path: '/senders',
    permission: 'destinations:write',
    handler: manage.postSender,
    operation: {
      summary: 'Create a sender',
      description: `At most ${MAX_SENDERS} a channel; \`push\` has one. Its settings are those of a channel. With \`via\`, it uses the connection of another sender, and has addresses alone.`,
      tag,
      body: { schema: schemas.NewSenderSchema, example: NEW_SENDER_EXAMPLE },
      replies: senderReply(manage.CREATED),
    },
    errors: ['locked', 'limit_reached'],
  },
  {
    method: 'GET',
    path: '/senders/:sender',
    permission: 'lists:read',
    handler: manage.getSender,
    operation: { summary: 'Read a sender', tag, query, replies: senderReply(manage.READ) },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'GET',
    path: '/senders/:sender/report',
    permission: 'lists:read',
    handler: manage.getReport,
    operation: {
      summary: 'Read what became of the messages of a sender',
      description: `By day. The last 30 days unless \`from\` and \`to\` say other ones; at most ${MAX_REPORT_DAYS} days.`,
      tag,
      query: { ...query, ...range },
      replies: {
        200: {
          message: manage.REPORTED,
          description: 'Counts by day, and the budget of today.',
          data: schemas.SenderReportData,
          example: {
            key: SENDER_EXAMPLE.key,
            days: [
              {
                day: '2026-03-01',
                sent: 4,
                delivered: 90,
                bounced: 2,
                complained: 0,
                failed: 1,
                unknown: 0,
                retried: 3,
              },
            ],
            today: { day: '2026-03-01', dailyBudget: 100_000, reserve: 10, used: 97 },
          },
        },
      },
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'PATCH',
    path: '/senders/:sender',
    permission: 'destinations:write',
    handler: manage.patchSender,
    operation: {
      summary: 'Change a sender',
      description:
        'What you leave out stays; null removes it. A sender that is paused or unreachable is tried again. `isDefault: true` alone only makes it the default of its channel. `key`, `channel` and `via` never change.',
      tag,
      query,
      body: { schema: schemas.SenderChangeSchema, example: { perSecond: 20 } },
      replies: senderReply(manage.UPDATED),
    },
    errors: ['not_found', 'locked'],
  },
  {
    method: 'DELETE',
    path: '/senders/:sender',
    permission: 'destinations:write',
    handler: manage.deleteSender,
    operation: {
      summary: 'Delete a sender',
      description:
        'Not while a campaign that is not archived, a template or another sender names it, or a message is in hand. Callbacks of its messages count for 7 days. The default sender can be reset by `DELETE /api/channels/{channel}`.',
      tag,
      query,
      replies: {
        200: {
          message: manage.DELETED,
          description: 'Its key.',
          data: schemas.DeletedSenderData,
          example: { key: SENDER_EXAMPLE.key },
        },
      },
    },
    errors: ['not_found', 'in_use', 'invalid_request'],
  },
  {
    method: 'POST',
    path: '/senders/:sender/pause',
    permission: 'destinations:write',
    handler: manage.postPause,
    operation: {
      summary: 'Pause a sender',
      description: 'Its messages wait, or take its fallback. A sender with `via` is paused with its connection.',
      tag,
      query,
      replies: senderReply(manage.PAUSED),
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'POST',
    path: '/senders/:sender/resume',
    permission: 'destinations:write',
    handler: manage.postResume,
    operation: {
      summary: 'Resume a sender',
      description: 'What waits for it goes on at once. It is tried again if it was unreachable.',
      tag,
      query,
      replies: senderReply(manage.RESUMED),
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'POST',
    path: '/senders/:sender/test',
    permission: 'audience:write',
    handler: manage.postTest,
    operation: {
      summary: 'Send a test message by a sender',
      description: `As \`POST /api/channels/{channel}/test\`, and counted with it: at most ${MAX_TESTS_A_DAY} in 24 hours.`,
      tag,
      query,
      body: { schema: TestSchema, example: { to: 'ada@example.com' } },
      replies: {
        200: {
          message: TESTED,
          description: 'What the provider said, refusals too.',
          data: TestData,
          example: {
            accepted: true,
            outcome: 'accepted',
            provider: 'smtp',
            messageId: LOGGED_MESSAGE_EXAMPLE.messageId,
          },
        },
      },
    },
    errors: ['not_found', 'limit_reached'],
  },
  {
    method: 'POST',
    path: '/senders/:sender/check',
    permission: 'audience:write',
    handler: manage.postCheck,
    operation: {
      summary: 'Check the domain of a sender',
      description:
        'Looks up SPF, DKIM and DMARC now. It is also done after each save, and before the first message of a day. `selectors` are kept for the next time.',
      tag,
      query,
      body: { schema: CheckSchema, example: { selectors: ['s1'] } },
      replies: senderReply(manage.READ),
    },
    errors: ['not_found'],
  },
]
