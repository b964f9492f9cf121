/** The endpoints about messages of campaigns and of send calls. */
import { MESSAGE_SOURCES, MESSAGE_STATES } from '../../../campaigns/read-messages.ts'
import { PAGE_QUERY } from '../../http/read-page.ts'
import { MESSAGE_EXAMPLE } from '../../openapi/examples.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import * as handlers from './handlers.ts'
import { ErasedData } from './call-schema.ts'
import * as schemas from './schemas.ts'

const tag = 'Messages'
const rendering = { language: 'en', subject: 'Welcome, Ada', html: '<p>Hello Ada</p>', text: 'Hello Ada' }

export const messageEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: '/messages',
    permission: 'contacts:read',
    handler: handlers.getMessages,
    operation: {
      summary: 'List the messages of campaigns and of send calls',
      tag,
      query: {
        contactId: { schema: { type: 'string', format: 'uuid' }, description: 'Those to this contact.' },
        campaignId: { schema: { type: 'string', format: 'uuid' }, description: 'Those of this campaign.' },
        source: {
          schema: { type: 'string', enum: [...MESSAGE_SOURCES] },
          description: 'Those of campaigns, or those of send calls.',
        },
        template: {
          schema: { type: 'string', format: 'uuid' },
          description: 'Those of send calls that are made from this template.',
        },
        state: { schema: { type: 'string', enum: [...MESSAGE_STATES] }, description: 'Those in this state.' },
        ...PAGE_QUERY,
      },
      replies: {
        200: {
          message: handlers.LISTED,
          description: 'Newest first.',
          data: schemas.MessagesData,
          example: { messages: [MESSAGE_EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'GET',
    path: '/messages/:messageId',
    permission: 'contacts:read',
    handler: handlers.getMessage,
    operation: {
      summary: 'Read a message',
      description: '`rendering` is null when nothing was rendered, and after 90 days.',
      tag,
      replies: {
        200: {
          message: handlers.READ,
          description: 'The message.',
          data: schemas.MessageData,
          example: { message: { ...MESSAGE_EXAMPLE, data: null, attachments: [], rendering } },
        },
      },
    },
    errors: ['not_found', 'unavailable'],
  },
  {
    method: 'DELETE',
    path: '/messages',
    permission: 'contacts:erase',
    isDangerous: true,
    handler: handlers.deleteMessages,
    operation: {
      summary: 'Erase the messages to an address of no contact',
      description:
        'Of send calls. Messages to a contact are erased with the contact. A message that waits is not sent. The counts stay.',
      tag,
      query: {
        address: {
          schema: { type: 'string' },
          required: true,
          description: 'An email address or a phone number.',
          example: 'ada@example.com',
        },
      },
      replies: {
        200: {
          message: handlers.ERASED,
          description: 'Erased.',
          data: ErasedData,
          example: { erased: 3, hasMore: false },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'POST',
    path: '/messages/:messageId/settle',
    permission: 'audience:write',
    handler: handlers.postSettle,
    operation: {
      summary: 'Settle a message whose outcome is unknown',
      description: 'Says what became of it, as you have found out. It is never sent again.',
      tag,
      body: { schema: schemas.SettleSchema, example: { state: 'sent' } },
      replies: {
        200: {
          message: handlers.SETTLED,
          description: 'The message.',
          data: schemas.SettledData,
          example: { message: MESSAGE_EXAMPLE },
        },
      },
    },
    errors: ['not_found', 'locked'],
  },
]
