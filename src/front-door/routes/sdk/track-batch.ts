import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { EventFact } from '../../../rules/events/facts.ts'
import type { BatchItemAnswer } from '../../../stream/entry.ts'
import { requireSecretKey } from '../../access/authenticate.ts'
import { chargeWrite } from '../../access/charge.ts'
import { compileCheck, isRecord, requireBody } from '../../http/check-body.ts'
import { type RequestContext, type AppContext, type Reply, type Route, WRITE_ERRORS } from '../../app-context.ts'
import type { Business } from '../../access/find-business.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { BatchFrameSchema, BatchSchema, readEvent } from './read-event.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { rejectOtherBusiness, toRequestError } from '../../http/rejection.ts'
import { closed, count, failureList, warningList } from '../reply-fields.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'

const MAX_WARNINGS = 50
/** Items read at once, which takes about a quarter of a millisecond. */
const ITEMS_AT_ONCE = 50

interface Failure {
  index: number
  error: string
}
interface ReadItems {
  items: { index: number; fact: EventFact }[]
  failures: Failure[]
}

const checkFrame = compileCheck(BatchFrameSchema)

async function trackBatch(app: AppContext, context: RequestContext): Promise<Reply> {
  const { business: caller } = await requireSecretKey(app, context)
  await chargeWrite(app, context, caller)
  const { business, body } = await receiveBody(app, context, caller, BODY_LIMITS.batch)
  const mismatch = rejectOtherBusiness(body, business)
  if (mismatch !== null) throw toRequestError(mismatch)
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
  const { items, failures } = await readItems(events, business, context.receivedAt)
  if (items.length === 0) return recorded(events.length, failures, [])
  const { receivedAt, requestId } = context
  const request = { kind: 'batch', businessId: business.id, receivedAt, requestId, items } as const
  const answer = await submitRequest(app, context, request, { keyed: true })
  return answer === null ? queued(events.length, failures) : recorded(events.length, failures, answer.items)
}

/**
 * Reads the items, which fail individually. Reads a few at a time, so that live events do not wait for a whole batch.
 */
async function readItems(events: readonly unknown[], business: Business, now: number): Promise<ReadItems> {
  const read: ReadItems = { items: [], failures: [] }
  for (const [index, event] of events.entries()) {
    if (index % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) await nextTurn()
    const item = readItem(event, business, now)
    if ('fact' in item) read.items.push({ index, fact: item.fact })
    else read.failures.push({ index, error: item.message })
  }
  return read
}

function readItem(event: unknown, business: Business, now: number): { fact: EventFact } | { message: string } {
  if (!isRecord(event)) return { message: 'the item must be an object' }
  if (event['visitorId'] != null) return { message: 'visitorId is not accepted inside a batch' }
  return readEvent(event, business, now)
}

const RECORDED = 'The batch is recorded.'
const KEPT = 'The batch is stored and will be recorded once.'

function recorded(received: number, refused: Failure[], answers: readonly BatchItemAnswer[]): Reply {
  const applied = answers.filter((answer) => 'deduped' in answer)
  const failures = inOrder([...refused, ...answers.filter((answer) => 'error' in answer)])
  const deduped = applied.filter((answer) => answer.deduped).length
  const warnings = applied
    .toSorted((a, b) => a.index - b.index)
    .flatMap(({ index, warnings }) => warnings.map((warning) => `item ${index}: ${warning}`))
    .slice(0, MAX_WARNINGS)
  return {
    message: describeFailures(RECORDED, failures.length, received),
    data: {
      received,
      recorded: applied.length - deduped,
      deduped,
      failed: failures.length,
      failures,
      ...withWarnings(warnings),
    },
  }
}

/** The items that the front door rejected are not stored anywhere, so this answer must list them. */
function queued(received: number, failures: Failure[]): Reply {
  const refused = failures.length === 0 ? {} : { failed: failures.length, failures }
  return {
    status: 202,
    message: describeFailures(KEPT, failures.length, received),
    data: { queued: true, received, ...refused },
  }
}

function describeFailures(message: string, failed: number, received: number): string {
  return failed === 0 ? message : `${message} Failures occurred: ${failed} of ${received} items failed.`
}

function inOrder(failures: Failure[]): Failure[] {
  return failures.toSorted((a, b) => a.index - b.index)
}

export const BatchData = Type.Object(
  { received: count, recorded: count, deduped: count, failed: count, failures: failureList, warnings: warningList },
  closed,
)

export const QueuedBatchData = Type.Object(
  { queued: Type.Literal(true), received: count, failed: Type.Optional(count), failures: Type.Optional(failureList) },
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
