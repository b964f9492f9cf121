/** Facts as the front door passes them on, and a pipeline that applies them without a stream. */
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import { PATIENCE_MS } from './at-load.ts'
import type { BrowserFact, EventFact, IdentifyFact, Identity } from '../../src/rules/events/facts.ts'
import { interpret, meaningOfName } from '../../src/rules/events/interpret.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import type {
  WorkerAnswer,
  BatchAnswer,
  BrowserAnswer,
  IdentifyAnswer,
  IngestRequest,
  TrackAnswer,
} from '../../src/stream/entry.ts'
import type { MicroBatch, Outcome } from '../../src/stream/micro-batch.ts'
import { FIRST_ID } from '../../src/stream/stream-id.ts'
import { createContactCaches } from '../../src/contacts/load/contact-cache.ts'
import type { PipelineDeps } from '../../workers/attempt.ts'
import { applyMicroBatch } from '../../workers/pipeline.ts'

export const NOW = Date.parse('2026-11-20T12:00:00Z')

type EventInput = Partial<EventFact> & { value?: number; sentCurrency?: string }

export function eventFact(event: string, identity: Identity, input: EventInput = {}): EventFact {
  const { value = null, sentCurrency, ...rest } = input
  const sent = { event, ...(value === null ? {} : { value }), ...(sentCurrency ? { currency: sentCurrency } : {}) }
  return {
    event,
    identity,
    occurredAt: NOW,
    occurredAtSent: input.occurredAt !== undefined,
    meaning: interpret(sent, 'USD'),
    value,
    properties: null,
    tags: [],
    traits: {},
    idempotencyKey: null,
    visitorId: null,
    warnings: [],
    ...rest,
  }
}

export function identifyFact(identity: Identity, input: Partial<IdentifyFact> = {}): IdentifyFact {
  return { identity, profile: {}, traits: {}, method: null, visitorId: null, warnings: [], ...input }
}

export function browserFact(event: string, visitorId: string, input: Partial<BrowserFact> = {}): BrowserFact {
  return {
    event,
    visitorId,
    occurredAt: NOW,
    meaning: meaningOfName(event),
    properties: null,
    messageId: null,
    first: null,
    latest: null,
    warnings: [],
    ...input,
  }
}

/** A request without the fields that the submitter adds. */
export type RequestContext = IngestRequest extends infer R
  ? R extends IngestRequest
    ? Omit<R, 'n' | 'requestId'>
    : never
  : never

export const track = (businessId: string, fact: EventFact, keyed = true): RequestContext => ({
  kind: 'track',
  businessId,
  receivedAt: NOW,
  keyed,
  source: keyed ? 'live' : 'browser',
  fact,
})
export const batch = (businessId: string, facts: EventFact[]): RequestContext => ({
  kind: 'batch',
  businessId,
  receivedAt: NOW,
  items: facts.map((fact, index) => ({ index, fact })),
})
export const identify = (businessId: string, fact: IdentifyFact, keyed = true): RequestContext => ({
  kind: 'identify',
  businessId,
  receivedAt: NOW,
  keyed,
  fact,
})

export const browser = (businessId: string, fact: BrowserFact, receivedAt = NOW): RequestContext => ({
  kind: 'browser',
  businessId,
  receivedAt,
  fact,
})

export interface Pipeline {
  deps: PipelineDeps
  /** Applies the calls as one micro-batch. Returns the answers in the order of the calls. */
  apply(...calls: RequestContext[]): Promise<WorkerAnswer[]>
  track(call: RequestContext): Promise<TrackAnswer>
  identify(call: RequestContext): Promise<IdentifyAnswer>
  batch(call: RequestContext): Promise<BatchAnswer>
  browser(call: RequestContext): Promise<BrowserAnswer>
  /** Returns the micro-batch that `apply` would use, for tests of faults. */
  microBatch(...calls: RequestContext[]): MicroBatch
  run(made: MicroBatch): Promise<Outcome>
}

/** Counted over all pipelines, as a Redis does: of two contacts of one instant the one with the smaller id is older. */
let sequence = 0

/**
 * Opens a pipeline on a new partition that it owns. Each micro-batch continues from the previous one.
 * @param searchMs time to find what is poisoned. On a busy machine, a search that ends too early sets aside all events
 *   of the contact.
 */
export async function openPipeline(
  sql: Sql,
  partition = `test-${uuidv7()}`,
  searchMs: number = PATIENCE_MS,
): Promise<Pipeline> {
  await sql`insert into positions (partition, epoch) values (${partition}, 1)`
  const deps: PipelineDeps = {
    sql,
    log: pino({ level: 'silent' }),
    configs: new Map(),
    now: () => NOW,
    contactsOf: createContactCaches(),
    searchMs,
  }
  let latest = FIRST_ID
  const pipeline: Pipeline = {
    deps,
    microBatch(...calls) {
      const from = latest
      sequence += 1
      const to = `${NOW}-${sequence}`
      latest = to
      const requests = calls.map((call, n) => ({
        streamId: to,
        frontDoor: 'test',
        request: { ...call, n, requestId: 'r' },
      }))
      return { partition, epoch: 1, from, to, requests, poisoned: [] }
    },
    run: (made) => applyMicroBatch(deps, made, AbortSignal.timeout(20_000), () => undefined),
    async apply(...calls) {
      const outcome = await pipeline.run(pipeline.microBatch(...calls))
      if (outcome.kind !== 'applied') throw new Error(`the micro-batch was ${outcome.kind}`)
      return outcome.answers.map(({ answer }) => answer)
    },
    track: async (call) => (await pipeline.apply(call))[0] as TrackAnswer,
    identify: async (call) => (await pipeline.apply(call))[0] as IdentifyAnswer,
    browser: async (call) => (await pipeline.apply(call))[0] as BrowserAnswer,
    batch: async (call) => (await pipeline.apply(call))[0] as BatchAnswer,
  }
  return pipeline
}
