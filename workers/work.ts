/** Splits a micro-batch into items, each with its request, and converts the decisions to answers. */
import { hashKey } from '../src/contacts/load/collect-lookups.ts'
import { IDENTITY_KINDS } from '../src/rules/events/facts.ts'
import { FAULTS } from '../src/rules/faults.ts'
import type { Decision, EventDecision, IdentifyDecision, Item } from '../src/rules/item.ts'
import { type DeadLetterRecord, composeDeadLetter } from '../src/stream/compose-dead-letter.ts'
import type { WorkerAnswer, BatchItemAnswer, IdentifyItemAnswer, IngestRequest } from '../src/stream/entry.ts'
import type { ItemPlace } from '../src/stream/derive-ids.ts'
import type { AddressedAnswer, BatchedRequest, MicroBatch } from '../src/stream/micro-batch.ts'

export interface Work {
  item: Item
  from: BatchedRequest
  place: ItemPlace
}

/** Returns the items of a micro-batch, in order of arrival. */
export function workOf(batch: MicroBatch): Work[] {
  let [streamId, at] = ['', 0]
  return batch.requests.flatMap((from) => {
    if (from.streamId !== streamId) [streamId, at] = [from.streamId, 0]
    return itemsOf(from.request).map((item) => ({
      item,
      from,
      place: { partition: batch.partition, streamId, at: at++ },
    }))
  })
}

function itemsOf(request: IngestRequest): Item[] {
  const { businessId, receivedAt } = request
  const isReplay = request.replayOf !== undefined
  const keyed = true
  switch (request.kind) {
    case 'batch':
      return request.items.map(({ index, fact }) => ({
        kind: 'track',
        businessId,
        receivedAt,
        keyed,
        source: 'batch',
        fact,
        index,
        isReplay,
      }))
    case 'identify_batch':
      return request.items.map(({ index, fact }) => ({
        kind: 'identify',
        businessId,
        receivedAt,
        keyed,
        fact,
        index,
        isReplay,
      }))
    case 'capture':
      throw new Error('a capture is not an event: it has partitions of its own')
    default:
      return [{ ...request, index: null, isReplay }]
  }
}

/** Returns the request as it was in the stream, reduced to this item, so that an operator can replay it. */
export function deadLetterOf(
  { from: { streamId, request }, item: { index } }: Work,
  reason: string,
  suspect: string | null = null,
): DeadLetterRecord {
  return composeDeadLetter(streamId, reduceTo(request, index), reason, suspect)
}

function reduceTo(request: IngestRequest, index: number | null): IngestRequest {
  const ofIndex = (item: { index: number }) => item.index === index
  if (request.kind === 'batch') return { ...request, items: request.items.filter(ofIndex) }
  if (request.kind === 'identify_batch') return { ...request, items: request.items.filter(ofIndex) }
  return request
}

/** Returns an identifier of the contact that the item names: a hash, written as a UUID. */
export function contactKeyOf({ item }: Work): string {
  const hash = hashKey(`${item.businessId} ${contactById(item)}`)
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function contactById(item: Item): string {
  if ('contactId' in item) return item.contactId
  if (item.kind === 'browser' || item.kind === 'web_trigger') return item.fact.visitorId
  const kind = IDENTITY_KINDS.find((kind) => item.fact.identity[kind] !== undefined)
  return kind === undefined ? '' : `${kind} ${item.fact.identity[kind]}`
}

/**
 * Returns one answer per request. An item without a decision is a dead letter. If a business is inactive, so are all
 * items of a request.
 */
export function answersOf(
  batch: MicroBatch,
  { works, decisions, inactive }: { works: Work[]; decisions: Map<Work, Decision>; inactive: ReadonlySet<Work> },
): AddressedAnswer[] {
  const byRequest = Map.groupBy(works, (work) => work.from)
  return batch.requests.map((from) => ({
    frontDoor: from.frontDoor,
    n: from.request.n,
    answer: answerOf(from.request, byRequest.get(from) ?? [], decisions, inactive),
  }))
}

function answerOf(
  request: IngestRequest,
  works: Work[],
  decisions: Map<Work, Decision>,
  inactive: ReadonlySet<Work>,
): WorkerAnswer {
  if (works[0] && inactive.has(works[0])) return { failed: true, inactive: true }
  if (request.kind === 'batch') return { items: works.map((work) => eventAnswer(work, decisions.get(work))) }
  if (request.kind === 'identify_batch')
    return { items: works.map((work) => identifyAnswer(work, decisions.get(work))) }
  const decision = works[0] && decisions.get(works[0])
  return decision ?? { failed: true }
}

/** A batch contains only events. */
function eventAnswer(work: Work, decision: Decision | undefined): BatchItemAnswer {
  const index = indexOf(work)
  if (!decision) return { index, error: FAULTS.item_kept }
  const { deduped, warnings } = decision as EventDecision
  return { index, deduped, warnings }
}

function identifyAnswer(work: Work, decision: Decision | undefined): IdentifyItemAnswer {
  const index = indexOf(work)
  if (!decision) return { index, error: FAULTS.item_kept }
  const { isNew, warnings } = decision as IdentifyDecision
  return { index, isNew, warnings }
}

function indexOf({ item: { index } }: Work): number {
  if (index === null) throw new Error('a batch item has an index')
  return index
}
