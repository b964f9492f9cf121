/** The endpoints about members, changes and fields. */
import { PAGE_QUERY } from '../../http/read-page.ts'
import { CONTACT_EXAMPLE } from '../../openapi/examples.ts'
import { FIELDS, getSegmentFields } from './fields.ts'
import { CHANGES, HISTORY, getChanges, getHistory } from './history.ts'
import { EXPLAINED, MEMBERS, getExplanation, getMembers } from './read.ts'
import * as schemas from './schemas.ts'
import type { SegmentEndpoint } from './segment-endpoint.ts'

const { contactId } = CONTACT_EXAMPLE
const at = '2026-03-01T09:30:00.000Z'
const instant = (text: string) => ({ schema: { type: 'string' }, description: text })

export const historyEndpoints: readonly SegmentEndpoint[] = [
  {
    method: 'GET',
    path: '/segments/:segmentId/members',
    permission: 'lists:read',
    isCompressed: true,
    handler: getMembers,
    operation: {
      summary: 'List the members of a segment',
      description:
        'Newest entry first. With `at`, those who were in it at that instant, under the ids that they had then; you get 503 while ' +
        'ClickHouse does not respond.',
      query: { at: instant('An instant, such as 2026-03-01T09:30:00Z.'), ...PAGE_QUERY },
      replies: {
        200: {
          message: MEMBERS,
          description: 'A page.',
          data: schemas.MembersData,
          example: { members: [{ contactId, enteredAt: at, cause: 'live' }], nextCursor: null },
        },
      },
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'GET',
    path: '/segments/:segmentId/changes',
    permission: 'lists:read',
    handler: getChanges,
    operation: {
      summary: 'List who entered and left a segment',
      description: 'Newest first. You get 503 while ClickHouse does not respond.',
      query: {
        from: instant('Start, inclusive: ISO 8601; a date is midnight UTC.'),
        to: instant('End, exclusive.'),
        ...PAGE_QUERY,
      },
      replies: {
        200: {
          message: CHANGES,
          description: 'A page.',
          data: schemas.ChangesData,
          example: { changes: [{ contactId, change: 'entered', at, cause: 'live' }], nextCursor: null },
        },
      },
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'GET',
    path: '/segments/:segmentId/history',
    permission: 'lists:read',
    handler: getHistory,
    operation: {
      summary: 'Read the size of a segment, day by day',
      description: 'You get 503 while ClickHouse does not respond.',
      query: {
        from: instant('The first day, in UTC. When left out: 30 days ago.'),
        to: instant('The last day. When left out: today.'),
      },
      replies: {
        200: {
          message: HISTORY,
          description: 'Every day, oldest first.',
          data: schemas.HistoryData,
          example: { days: [{ day: '2026-03-01', entered: 2, left: 1, members: 12 }] },
        },
      },
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'GET',
    path: '/segments/:segmentId/explain',
    permission: 'contacts:read',
    handler: getExplanation,
    operation: {
      summary: 'Explain why a contact is a member of a segment or not',
      query: {
        contactId: { schema: { type: 'string', format: 'uuid' }, description: 'The contact.', required: true },
      },
      replies: {
        200: {
          message: EXPLAINED,
          description: 'The rule with its outcome and, for each condition, the value of the contact.',
          data: schemas.ExplanationData,
          example: {
            member: true,
            enteredAt: at,
            changesAt: null,
            rule: {
              all: [{ attribute: 'country', operator: 'in', value: ['GB', 'IE'], matches: true, seen: 'GB' }],
              matches: true,
            },
          },
        },
      },
    },
    errors: ['not_found', 'invalid_request'],
  },
  {
    method: 'GET',
    path: '/segment-fields',
    permission: 'lists:read',
    handler: getSegmentFields,
    operation: {
      summary: 'List what a rule can read',
      description: 'At most 500 of a group. The group Events is there once an event has arrived.',
      query: {
        query: {
          schema: { type: 'string', maxLength: 256 },
          description: 'Part of a name; case is ignored.',
        },
      },
      replies: {
        200: {
          message: FIELDS,
          description: 'By group.',
          data: schemas.SegmentFieldsData,
          example: {
            groups: [
              {
                group: 'Tags',
                fields: [
                  {
                    path: 'tag.vip',
                    label: 'vip',
                    type: 'tag',
                    operators: ['has', 'has_not'],
                    condition: { tag: 'vip' },
                  },
                ],
              },
            ],
          },
        },
      },
    },
    errors: ['invalid_request'],
  },
]
