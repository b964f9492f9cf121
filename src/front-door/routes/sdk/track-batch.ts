import { Type } from '@sinclair/typebox'
import type { BatchItemAnswer } from '../../../stream/entry.ts'
import { compileCheck, requireBody } from '../../http/check-body.ts'
import { type RequestContext, type AppContext, type Reply, type Route, WRITE_ERRORS } from '../../app-context.ts'
import type { Business } from '../../../businesses/find-business.ts'
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
import { BatchFrameSchema, BatchSchema, readEvent } from './read-event.ts'
import { closed, count, failureList, warningList } from '../reply-fields.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'

const checkFrame = compileCheck(BatchFrameSchema)

async function trackBatch(app: AppContext, context: RequestContext): Promise<Reply> {
  const { business, body } = await receiveBatch(app, context)
  const { events } = requireBody(checkFrame(body))
  return recordBatch(app, context, business, events)
}

/** Call it only for callers that may send events of the business. `events`: 1 to 500, unchecked. */
export async function recordBatch(
  app: AppContext,
  context: RequestContext,
  business: Business,
  events: readonly unknown[],
): Promise<Reply> {
  const { items, failures } = await readItems(events, (event) => readEvent(event, business, context.receivedAt))
  if (items.length === 0) return recorded(events.length, failures, [])
  const { receivedAt, requestId } = context
  const request = { kind: 'batch', businessId: business.id, receivedAt, requestId, items } as const
  const answer = await submitRequest(app, context, request, { keyed: true })
  return answer === null ? queued(KEPT, events.length, failures) : recorded(events.length, failures, answer.items)
}

const RECORDED = 'The batch is recorded.'
const KEPT = 'The batch is stored and will be recorded once.'

function recorded(received: number, refused: Failure[], answers: readonly BatchItemAnswer[]): Reply {
  const applied = answers.filter((answer) => 'deduped' in answer)
  const failures = inOrder([...refused, ...answers.filter((answer) => 'error' in answer)])
  const deduped = applied.filter((answer) => answer.deduped).length
  return {
    message: describeFailures(RECORDED, failures.length, received),
    data: {
      received,
      recorded: applied.length - deduped,
      deduped,
      failed: failures.length,
      failures,
      ...withWarnings(listWarnings(applied)),
    },
  }
}

export const BatchData = Type.Object(
  { received: count, recorded: count, deduped: count, failed: count, failures: failureList, warnings: warningList },
  closed,
)

export const trackBatchRoute: Route = {
  method: 'POST',
  path: '/api/sdk/track/batch',
  answer: trackBatch,
  operation: {
    summary: 'Record up to 500 past events',
    description:
      'For past events: a batch starts no campaign. Each item that fails has an entry in `failures`; the others are recorded. With ' +
      'an `idempotencyKey` in every item you can send a batch again safely. A batch counts as one request for the rate limit.',
    tag: 'Events',
    key: 'secret',
    body: {
      schema: BatchSchema,
      example: {
        events: [
          {
            event: 'purchase',
            identity: { platformCustomerId: 42 },
            value: 11.77,
            occurredAt: '1997-01-01',
            idempotencyKey: 'row-1',
          },
        ],
      },
    },
    replies: {
      200: {
        message: RECORDED,
        description: 'The batch was processed. Some items may have failed.',
        data: BatchData,
        example: { received: 1, recorded: 1, deduped: 0, failed: 0, failures: [] },
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
