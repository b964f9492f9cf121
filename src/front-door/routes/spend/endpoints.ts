/** The endpoints about spend on advertising. */
import { MAX_DELETED, MAX_SPEND_ROWS } from '../../../analytics/spend.ts'
import { PAGE_QUERY } from '../../http/read-page.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import * as manage from './manage.ts'
import * as schemas from './schemas.ts'

const tag = 'Analytics'
const day = { type: 'string', format: 'date' }
const EXAMPLE = {
  day: '2026-02-28',
  channel: 'paid_search' as const,
  source: 'google',
  campaign: 'spring',
  currency: 'EUR',
  amount: '120.5',
}

export const spendEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: '/analytics/spend',
    permission: 'lists:read',
    handler: manage.getSpend,
    operation: {
      summary: 'List spend',
      description:
        'What was spent on advertising, as it was sent. `/api/analytics/attribution` adds it up beside the revenue.',
      tag,
      query: {
        from: { schema: day, description: 'The first day.' },
        to: { schema: day, description: 'The day after the last one.' },
        ...PAGE_QUERY,
      },
      replies: {
        200: {
          message: manage.LISTED,
          description: 'Newest day first.',
          data: schemas.SpendData,
          example: { spend: [EXAMPLE], nextCursor: null },
        },
      },
    },
    errors: ['invalid_request'],
  },
  {
    method: 'POST',
    path: '/analytics/spend',
    permission: 'audience:write',
    handler: manage.postSpend,
    operation: {
      summary: 'Save spend',
      description:
        `1 to ${schemas.MAX_ITEMS.toLocaleString('en')} rows, all or none. A row with the day, channel, source, campaign and currency of ` +
        `an earlier one replaces its amount, so a repeat counts once. A business has at most ${MAX_SPEND_ROWS.toLocaleString('en')} rows.`,
      tag,
      body: { schema: schemas.NewSpendSchema, example: { spend: [{ ...EXAMPLE, amount: '120.50' }] } },
      replies: {
        200: {
          message: manage.SAVED,
          description: 'Saved.',
          data: schemas.SavedData,
          example: { received: 1, added: 1, changed: 0 },
        },
      },
    },
    errors: ['limit_reached'],
  },
  {
    method: 'DELETE',
    path: '/analytics/spend',
    permission: 'audience:write',
    handler: manage.removeSpend,
    operation: {
      summary: 'Delete the spend of a range of days',
      description: `At most ${MAX_DELETED.toLocaleString('en')} rows by one call, the oldest days first.`,
      tag,
      query: {
        from: { schema: day, description: 'The first day.', example: '2026-02-01', required: true },
        to: { schema: day, description: 'The day after the last one.', example: '2026-03-01', required: true },
      },
      replies: {
        200: {
          message: manage.DELETED,
          description: 'Deleted.',
          data: schemas.DeletedData,
          example: { deleted: 28, hasMore: false },
        },
      },
    },
    errors: ['invalid_request'],
  },
]
