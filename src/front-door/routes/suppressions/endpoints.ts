/** The endpoints about suppressed addresses. */
import { MAX_LIFTED } from '../../../messages/suppressions/lift.ts'
import { MAX_SUPPRESSIONS } from '../../../messages/suppressions/suppress.ts'
import { ADDRESS_CHANNELS, SUPPRESSION_REASONS } from '../../../rules/messages/suppression.ts'
import { PAGE_QUERY } from '../../http/read-page.ts'
import { SUPPRESSION_EXAMPLE } from '../../openapi/examples.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { oneOf } from '../reply-fields.ts'
import * as manage from './manage.ts'
import * as schemas from './schemas.ts'

const tag = 'Messages'
const { suppressionId } = SUPPRESSION_EXAMPLE
const channel = { schema: oneOf(ADDRESS_CHANNELS), description: 'Only those of this channel.' }
const reason = { schema: oneOf(SUPPRESSION_REASONS), description: 'Only those with this reason.' }
const instant = { type: 'string', format: 'date-time' }

export const suppressionEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: '/suppressions',
    permission: 'contacts:read',
    handler: manage.getSuppressions,
    operation: {
      summary: 'List suppressions',
      description:
        'No message goes to a suppressed address. Only hashes of addresses are stored: no answer shows an address.',
      tag,
      query: {
        address: {
          schema: { type: 'string' },
          description: 'Only those of this email address or phone number, one for each channel and reason.',
          example: 'ada@example.com',
        },
        channel,
        reason,
        ...PAGE_QUERY,
      },
      replies: {
        200: {
          message: manage.LISTED,
          description: 'Newest first.',
          data: schemas.SuppressionsData,
          example: { suppressions: [SUPPRESSION_EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'POST',
    path: '/suppressions',
    permission: 'destinations:write',
    handler: manage.postSuppressions,
    operation: {
      summary: 'Suppress addresses',
      description:
        `1 to ${schemas.MAX_ITEMS} addresses. Each item that fails has an entry in \`failures\`; the others are suppressed. ` +
        `A business has at most ${MAX_SUPPRESSIONS.toLocaleString('en-US')} suppressions.`,
      tag,
      body: {
        schema: schemas.NewSuppressionsSchema,
        example: { suppressions: [{ channel: 'email', address: 'ada@example.com', reason: 'manual' }] },
      },
      replies: {
        200: {
          message: manage.ADDED,
          description: 'Some items may have failed.',
          data: schemas.AddedData,
          example: { received: 1, added: 1, known: 0, failed: 0, failures: [] },
        },
      },
    },
    errors: [],
  },
  {
    method: 'DELETE',
    path: '/suppressions',
    permission: 'destinations:write',
    handler: manage.deleteSuppressions,
    operation: {
      summary: 'Lift many suppressions',
      description: `All with a reason, of a time if you say so: at most ${MAX_LIFTED.toLocaleString('en-US')} by one call, the oldest first.`,
      tag,
      query: {
        reason: { ...reason, required: true },
        channel,
        from: { schema: instant, description: 'Only those since then.' },
        to: { schema: instant, description: 'Only those until then, that instant included.' },
      },
      replies: {
        200: {
          message: manage.LIFTED_MANY,
          description: 'Lifted.',
          data: schemas.LiftedManyData,
          example: { lifted: 12, hasMore: false },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'DELETE',
    path: '/suppressions/:suppressionId',
    permission: 'destinations:write',
    handler: manage.deleteSuppression,
    operation: {
      summary: 'Lift a suppression',
      description: 'The address gets messages again, unless it is suppressed for another reason.',
      tag,
      replies: {
        200: {
          message: manage.LIFTED,
          description: 'Lifted.',
          data: schemas.LiftedData,
          example: { suppressionId },
        },
      },
    },
    errors: ['not_found'],
  },
]
