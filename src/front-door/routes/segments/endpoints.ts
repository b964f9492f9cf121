/** The endpoints about segments themselves. */
import { CONTACT_EXAMPLE, LISTED_SEGMENT_EXAMPLE, SEGMENT_EXAMPLE } from '../../openapi/examples.ts'
import { historyEndpoints } from './history-endpoints.ts'
import { CREATED, DELETED, UPDATED, deleteSegment, patchSegment, postSegment } from './manage.ts'
import { PREVIEWED, postPreview } from './preview.ts'
import { LISTED, READ, getSegment, getSegments } from './read.ts'
import * as schemas from './schemas.ts'
import type { SegmentEndpoint } from './segment-endpoint.ts'

const { name, description, rule, segmentId } = SEGMENT_EXAMPLE
const { contactId } = CONTACT_EXAMPLE
const at = '2026-03-01T09:30:00.000Z'
const segmentReply = (message: string) => ({
  200: { message, description: 'The segment.', data: schemas.SegmentData, example: { segment: SEGMENT_EXAMPLE } },
})

export const segmentEndpoints: readonly SegmentEndpoint[] = [
  {
    method: 'POST',
    path: '/segments',
    permission: 'audience:write',
    handler: postSegment,
    operation: {
      summary: 'Create a segment',
      description:
        'A business has at most 1,000 segments, with 10,000 conditions in all. The members are computed after the answer; until ' +
        'then `status` is `computing`.',
      body: { schema: schemas.SENT.create, example: { name, description, rule } },
      replies: segmentReply(CREATED),
    },
    errors: ['limit_reached'],
  },
  {
    method: 'GET',
    path: '/segments',
    permission: 'lists:read',
    isCompressed: true,
    handler: getSegments,
    operation: {
      summary: 'List the segments',
      replies: {
        200: {
          message: LISTED,
          description: 'Oldest first, without their rules.',
          data: schemas.SegmentsData,
          example: { segments: [LISTED_SEGMENT_EXAMPLE] },
        },
      },
    },
    errors: [],
  },
  {
    method: 'POST',
    path: '/segments/preview',
    // A rule about an address would reveal whether the address is known.
    permission: 'contacts:read',
    handler: postPreview,
    operation: {
      summary: 'Count whom a rule is true of, and store nothing',
      description: 'Counts everything that was answered before it. You get 503 while ClickHouse does not respond.',
      body: { schema: schemas.SENT.preview, example: { rule, sample: 10 } },
      replies: {
        200: {
          message: PREVIEWED,
          description: 'The number, and some of the contacts.',
          data: schemas.PreviewData,
          example: { count: 1, sample: [contactId], asOf: at },
        },
      },
    },
    errors: [],
  },
  {
    method: 'GET',
    path: '/segments/:segmentId',
    permission: 'lists:read',
    handler: getSegment,
    operation: { summary: 'Read a segment', replies: segmentReply(READ) },
    errors: ['not_found'],
  },
  {
    method: 'PATCH',
    path: '/segments/:segmentId',
    permission: 'audience:write',
    handler: patchSegment,
    operation: {
      summary: 'Change a segment',
      description:
        'Changes only the fields that you send. After a change of the rule, the members are computed again; until that is done, they are ' +
        'those of the rule before. An equal rule changes nothing.',
      body: { schema: schemas.SENT.change, example: { name, rule } },
      replies: segmentReply(UPDATED),
    },
    errors: ['not_found', 'limit_reached'],
  },
  {
    method: 'DELETE',
    path: '/segments/:segmentId',
    permission: 'audience:write',
    handler: deleteSegment,
    operation: {
      summary: 'Delete a segment',
      description: 'Refused while the rule of another segment or a campaign names it.',
      replies: {
        200: { message: DELETED, description: 'Deleted.', data: schemas.DeletedSegmentData, example: { segmentId } },
      },
    },
    errors: ['not_found', 'in_use'],
  },
  ...historyEndpoints,
]
