/** What a micro-batch comes down to: single items, each with the request it belongs to; and back again to answers. */
import type { Decision, EventDecision, Item } from '../src/rules/item.ts'
import { type DeadLetterRecord, composeDeadLetter } from '../src/stream/compose-dead-letter.ts'
import type { Answer, BatchItemAnswer, Request } from '../src/stream/entry.ts'
import type { AddressedAnswer, BatchedRequest, MicroBatch } from '../src/stream/micro-batch.ts'

export interface Work {
  item: Item
  from: BatchedRequest
  /** Position in the caller's array, of a batch item. */
  index: number | null
}

/** The items of a micro-batch, in order of arrival. */
export function workOf(batch: MicroBatch): Work[] {
  return batch.requests.flatMap((from) => itemsOf(from.request).map(([index, item]) => ({ item, from, index })))
}

function itemsOf(request: Request): [index: number | null, item: Item][] {
  const { businessId, receivedAt } = request
  const base = { businessId, receivedAt }
  switch (request.kind) {
    case 'track':
      return [[null, { ...base, kind: 'event', keyed: request.keyed, source: request.source, fact: request.fact }]]
    case 'browser':
      return [[null, { ...base, kind: 'browser', fact: request.fact }]]
    case 'batch':
      return request.items.map(({ index, fact }) => [
        index,
        { ...base, kind: 'event', keyed: true, source: 'batch', fact },
      ])
    case 'identify':
      return [[null, { ...base, kind: 'identify', keyed: request.keyed, fact: request.fact }]]
    case 'subscribe': {
      const { contactId, channels, method } = request
      const isReplay = request.replayOf !== undefined
      return [[null, { ...base, kind: 'subscribe', contactId, channels, method, isReplay }]]
    }
    case 'erase':
      return [[null, { ...base, kind: 'erase', contactId: request.contactId }]]
    case 'capture':
      throw new Error('what was captured is no event: it has lanes of its own')
  }
}

/** The request as it travelled, with this one item: what an operator can replay. */
export function deadLetterOf({ from: { streamId, request }, index }: Work, reason: string): DeadLetterRecord {
  const single =
    request.kind === 'batch' ? { ...request, items: request.items.filter((item) => item.index === index) } : request
  return composeDeadLetter(streamId, single, reason)
}

/** One answer per request; an item without a decision is a dead letter. */
export function answersOf(batch: MicroBatch, works: Work[], decisions: Map<Work, Decision>): AddressedAnswer[] {
  const byRequest = Map.groupBy(works, (work) => work.from)
  return batch.requests.map((from) => ({
    frontDoor: from.frontDoor,
    n: from.request.n,
    answer: answerOf(from.request, byRequest.get(from) ?? [], decisions),
  }))
}

function answerOf(request: Request, works: Work[], decisions: Map<Work, Decision>): Answer {
  if (request.kind === 'batch') return { items: works.map((work) => itemAnswer(work, decisions.get(work))) }
  const decision = works[0] && decisions.get(works[0])
  return decision ?? { failed: true }
}

function itemAnswer({ index }: Work, decision: Decision | undefined): BatchItemAnswer {
  if (index === null) throw new Error('a batch item has an index')
  if (!decision) return { index, error: 'internal error: the item is kept for the operator' }
  // A batch holds events alone.
  const { deduped, warnings } = decision as EventDecision
  return { index, deduped, warnings }
}
