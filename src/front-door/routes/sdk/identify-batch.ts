import { Type } from '@sinclair/typebox'
import type { IdentifyItemAnswer } from '../../../stream/entry.ts'
import { compileCheck, requireBody } from '../../http/check-body.ts'
import { type RequestContext, type AppContext, type Reply, type Route, WRITE_ERRORS } from '../../app-context.ts'
import {
  type Failure,
  QueuedBatchData,
  describeFailures,
  inOrder,
  listWarnings,
  queued,
  readItems,
  receiveBatch,
} from './batch-items.ts'
import { IdentifyBatchFrameSchema, IdentifyBatchSchema } from './identify-schema.ts'
import { readIdentify } from './read-identify.ts'
import { closed, count, failureList, warningList } from '../reply-fields.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'

const checkFrame = compileCheck(IdentifyBatchFrameSchema)

async function identifyBatch(app: AppContext, context: RequestContext): Promise<Reply> {
  const { business, body } = await receiveBatch(app, context)
  const { identifies } = requireBody(checkFrame(body))
  const { receivedAt, requestId } = context
  const caller = { business, keyed: true, now: receivedAt }
  const { items, failures } = await readItems(identifies, (item) => readIdentify(item, caller))
  if (items.length === 0) return identified(identifies.length, failures, [])
  const request = { kind: 'identify_batch', businessId: business.id, receivedAt, requestId, items } as const
  const answer = await submitRequest(app, context, request, { keyed: true })
  return answer === null
    ? queued(KEPT, identifies.length, failures)
    : identified(identifies.length, failures, answer.items)
}

const APPLIED = 'The batch is applied.'
const KEPT = 'The batch is stored and will be applied once.'

function identified(received: number, refused: Failure[], answers: readonly IdentifyItemAnswer[]): Reply {
  const applied = answers.filter((answer) => 'isNew' in answer)
  const failures = inOrder([...refused, ...answers.filter((answer) => 'error' in answer)])
  const created = applied.filter(({ isNew }) => isNew).length
  return {
    message: describeFailures(APPLIED, failures.length, received),
    data: {
      received,
      created,
      updated: applied.length - created,
      failed: failures.length,
      failures,
      ...withWarnings(listWarnings(applied)),
    },
  }
}

const IdentifyBatchData = Type.Object(
  {
    received: count,
    created: { ...count, description: 'Items that created a contact.' },
    updated: { ...count, description: 'Items whose contact was found, whether or not they changed it.' },
    failed: count,
    failures: failureList,
    warnings: warningList,
  },
  closed,
)

export const identifyBatchRoute: Route = {
  method: 'POST',
  path: '/api/sdk/identify/batch',
  answer: identifyBatch,
  operation: {
    summary: 'Find or create up to 500 contacts',
    description:
      'For people you already know, such as a list of customers. Each item is a body of `identify` without `visitorId`. Each item ' +
      'that fails has an entry in `failures`; the others are applied, in their order. Like a batch of events it starts no campaign, ' +
      'and unlike `identify` it makes no address primary. A batch counts as one request for the rate limit.',
    tag: 'Contacts',
    key: 'secret',
    body: {
      schema: IdentifyBatchSchema,
      example: {
        identifies: [
          { identity: { platformCustomerId: 42, email: 'ada@example.com' }, profile: { name: 'Ada Lovelace' } },
        ],
      },
    },
    replies: {
      200: {
        message: APPLIED,
        description: 'The batch was processed. Some items may have failed.',
        data: IdentifyBatchData,
        example: { received: 1, created: 1, updated: 0, failed: 0, failures: [] },
      },
      202: {
        message: KEPT,
        description: 'Stored. It will be applied once. `failures` lists the items that were rejected immediately.',
        data: QueuedBatchData,
        example: { queued: true, received: 1 },
      },
    },
    errors: WRITE_ERRORS,
  },
}
