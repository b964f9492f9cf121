/** What the batches of events and of people have in common: their items fail alone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { RequestContext, AppContext, Reply } from '../../app-context.ts'
import { requireSecretKey } from '../../access/authenticate.ts'
import { chargeWrite } from '../../access/charge.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { rejectOtherBusiness, toRequestError } from '../../http/rejection.ts'
import { closed, count, failureList } from '../reply-fields.ts'

export const MAX_BATCH = 500
const MAX_WARNINGS = 50
/** Items read at once, which takes about a quarter of a millisecond. */
const ITEMS_AT_ONCE = 50

export interface Failure {
  index: number
  error: string
}
export interface ReadItems<Fact> {
  items: { index: number; fact: Fact }[]
  failures: Failure[]
}

/** Authenticates the caller of a batch, which costs one unit, and receives its body. */
export async function receiveBatch(
  app: AppContext,
  context: RequestContext,
): Promise<{ business: Business; body: unknown }> {
  const { business: caller } = await requireSecretKey(app, context)
  await chargeWrite(app, context, caller)
  const received = await receiveBody(app, context, caller, BODY_LIMITS.batch)
  const mismatch = rejectOtherBusiness(received.body, received.business)
  if (mismatch !== null) throw toRequestError(mismatch)
  return received
}

/** Reads the items a few at a time, so that live events do not wait for a whole batch. */
export async function readItems<Fact>(
  items: readonly unknown[],
  read: (item: Record<string, unknown>) => { fact: Fact } | { message: string },
): Promise<ReadItems<Fact>> {
  const done: ReadItems<Fact> = { items: [], failures: [] }
  for (let index = 0; index < items.length; index++) {
    if (index % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) await nextTurn()
    const result = readItem(items[index], read)
    if ('fact' in result) done.items.push({ index, fact: result.fact })
    else done.failures.push({ index, error: result.message })
  }
  return done
}

function readItem<Fact>(
  item: unknown,
  read: (item: Record<string, unknown>) => { fact: Fact } | { message: string },
): { fact: Fact } | { message: string } {
  if (!isRecord(item)) return { message: 'the item must be an object' }
  if (item['visitorId'] != null) return { message: 'visitorId is not accepted inside a batch' }
  return read(item)
}

/** The items that the front door rejected are not stored anywhere, so this answer must list them. */
export function queued(message: string, received: number, failures: Failure[]): Reply {
  const refused = failures.length === 0 ? {} : { failed: failures.length, failures }
  return {
    status: 202,
    message: describeFailures(message, failures.length, received),
    data: { queued: true, received, ...refused },
  }
}

export function describeFailures(message: string, failed: number, received: number): string {
  return failed === 0 ? message : `${message} Failures occurred: ${failed} of ${received} items failed.`
}

export const inOrder = (failures: Failure[]): Failure[] => failures.toSorted((a, b) => a.index - b.index)

/** Returns the warnings in the order of the items, each with the place of its item. */
export const listWarnings = (items: readonly { index: number; warnings: string[] }[]): string[] =>
  items
    .toSorted((a, b) => a.index - b.index)
    .flatMap(({ index, warnings }) => warnings.map((warning) => `item ${index}: ${warning}`))
    .slice(0, MAX_WARNINGS)

export const QueuedBatchData = Type.Object(
  { queued: Type.Literal(true), received: count, failed: Type.Optional(count), failures: Type.Optional(failureList) },
  closed,
)
