/** The endpoints about messages of campaigns. */
import { MESSAGE_STATES } from '../../../campaigns/read-messages.ts'
import { PAGE_QUERY } from '../../http/read-page.ts'
import { MESSAGE_EXAMPLE } from '../../openapi/examples.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import * as handlers from './handlers.ts'
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
      summary: 'List the messages of campaigns',
      tag,
      query: {
        contactId: { schema: { type: 'string', format: 'uuid' }, description: 'Those to this contact.' },
        campaignId: { schema: { type: 'string', format: 'uuid' }, description: 'Those of this campaign.' },
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
      summary: 'Read a message of a campaign',
      description: '`rendering` is null when nothing was rendered, and after 90 days.',
      tag,
      replies: {
        200: {
          message: handlers.READ,
          description: 'The message.',
          data: schemas.MessageData,
          example: { message: { ...MESSAGE_EXAMPLE, rendering } },
        },
      },
    },
    errors: ['not_found', 'unavailable'],
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
