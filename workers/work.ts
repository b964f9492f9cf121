/** Splits a micro-batch into items, each with its request, and converts the decisions to answers. */
import { hashKey } from '../src/contacts/collect-lookups.ts'
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
  /** Position of a batch item in the caller's array; null for other items. */
  index: number | null
  place: ItemPlace
}

/** Returns the items of a micro-batch, in order of arrival. */
export function workOf(batch: MicroBatch): Work[] {
  let [streamId, at] = ['', 0]
  return batch.requests.flatMap((from) => {
    if (from.streamId !== streamId) [streamId, at] = [from.streamId, 0]
    return itemsOf(from.request).map(([index, item]) => ({
      item,
      from,
      index,
      place: { partition: batch.partition, streamId, at: at++ },
    }))
  })
}

function itemsOf(request: IngestRequest): [index: number | null, item: Item][] {
  const { businessId, receivedAt } = request
  const base = { businessId, receivedAt }
  const isReplay = request.replayOf !== undefined
  switch (request.kind) {
    case 'track':
      return [
        [
          null,
          {
            ...base,
            kind: 'event',
            keyed: request.keyed,
            isReplay,
            source: request.source,
            fact: request.fact,
            wantsEffects: request.effects === true,
          },
        ],
      ]
    case 'browser':
      return [[null, { ...base, kind: 'browser', isReplay, fact: request.fact }]]
    case 'batch':
      return request.items.map(({ index, fact }) => [
        index,
        { ...base, kind: 'event', keyed: true, isReplay, source: 'batch', fact },
      ])
    case 'identify':
      return [
        [
          null,
          {
            ...base,
            kind: 'identify',
            keyed: request.keyed,
            isReplay,
            makesPrimary: request.makesPrimary === true,
            fact: request.fact,
            wantsEffects: request.effects === true,
          },
        ],
      ]
    case 'identify_batch':
      return request.items.map(({ index, fact }) => [
        index,
        { ...base, kind: 'identify', keyed: true, isReplay, isPast: true, fact },
      ])
    case 'subscribe': {
      const { contactId, channels, method, changesOnly, replaces, at, proves } = request
      const conditions = {
        ...(changesOnly !== undefined && { changesOnly }),
        ...(replaces && { replaces }),
        ...(at !== undefined && { at }),
        ...(proves !== undefined && { proves }),
      }
      return [[null, { ...base, kind: 'subscribe', contactId, channels, method, ...conditions, isReplay }]]
    }
    case 'edit': {
      const { contactId, fact, step } = request
      return [[null, { ...base, kind: 'edit', contactId, fact, ...(step && { step }), isReplay }]]
    }
    case 'message_event': {
      const { contactId, fact } = request
      return [[null, { ...base, kind: 'message_event', contactId, fact, isReplay }]]
    }
    case 'web_trigger':
      return [[null, { ...base, kind: 'web_trigger', fact: request.fact, isReplay }]]
    case 'erase':
      return [[null, { ...base, kind: 'erase', contactId: request.contactId }]]
    case 'capture':
      throw new Error('a capture is not an event: it has partitions of its own')
  }
}

/** Returns the request as it was in the stream, reduced to this item, so that an operator can replay it. */
export function deadLetterOf(
  { from: { streamId, request }, index }: Work,
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

function indexOf({ index }: Work): number {
  if (index === null) throw new Error('a batch item has an index')
  return index
}
