/**
 * Encodes and decodes stream entries. Each request that a worker reads is validated, so that the rules can rely on it.
 */
import { type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { WebTriggerFact } from '../rules/campaigns/web-trigger-fact.ts'
import { BrowserFact, EditFact, EventFact, IdentifyFact, Subscriptions } from '../rules/events/facts.ts'
import { MessageEventFact } from '../rules/messages/message-event.ts'
import { Touches, WebHit } from '../rules/visitors/web-facts.ts'
import { type IngestRequest, isBatch } from './entry.ts'
import type { BatchedRequest, PoisonedEntry } from './micro-batch.ts'
import { partitionKind } from './partitions/partition-of.ts'
import { isRecord } from '../rules/is-record.ts'

const text = Type.String()
const uuid = Type.String({ pattern: '^[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}$' })
const instant = Type.Integer({ minimum: -8.64e15, maximum: 8.64e15 })

const base = {
  n: Type.Integer(),
  businessId: text,
  receivedAt: instant,
  requestId: text,
  replayOf: Type.Optional(text),
}
const compile = (fields: Record<string, TSchema>) => TypeCompiler.Compile(Type.Object({ ...base, ...fields }))
const REQUESTS: Record<IngestRequest['kind'], TypeCheck<TSchema>> = {
  track: compile({
    keyed: Type.Boolean(),
    source: Type.Union([Type.Literal('live'), Type.Literal('browser')]),
    fact: EventFact,
    effects: Type.Optional(Type.Boolean()),
  }),
  browser: compile({ fact: BrowserFact }),
  batch: compile({ items: Type.Array(Type.Object({ index: Type.Integer(), fact: EventFact })) }),
  identify_batch: compile({ items: Type.Array(Type.Object({ index: Type.Integer(), fact: IdentifyFact })) }),
  identify: compile({
    keyed: Type.Boolean(),
    fact: IdentifyFact,
    makesPrimary: Type.Optional(Type.Boolean()),
    effects: Type.Optional(Type.Boolean()),
  }),
  erase: compile({ contactId: text }),
  subscribe: compile({
    contactId: text,
    channels: Subscriptions,
    method: text,
    changesOnly: Type.Optional(Type.Boolean()),
    at: Type.Optional(instant),
    proves: Type.Optional(text),
    replaces: Type.Optional(
      Type.Partial(Type.Object({ email: instant, sms: instant, whatsapp: instant, push: instant })),
    ),
  }),
  edit: compile({
    contactId: text,
    fact: EditFact,
    step: Type.Optional(Type.Object({ enrolmentId: uuid, stepId: text })),
  }),
  message_event: compile({ contactId: text, fact: MessageEventFact }),
  web_trigger: compile({ fact: WebTriggerFact }),
  capture: compile({
    businessId: uuid,
    visitorId: Type.String({ pattern: '^[\\da-f]{32}$' }),
    hits: Type.Array(WebHit),
    touches: Touches,
  }),
}
const Envelope = TypeCompiler.Compile(Type.Object({ frontDoor: text, requests: Type.Array(Type.Unknown()) }))

/** Returns the JSON of an Entry. The requests are already JSON. */
export function encodeEntry(frontDoor: string, requests: string[]): string {
  return `{"frontDoor":${JSON.stringify(frontDoor)},"requests":[${requests.join(',')}]}`
}

/** One entry as a worker uses it. */
export interface ReadEntry {
  streamId: string
  requests: BatchedRequest[]
  poisoned: PoisonedRequest[]
  events: number
  bytes: number
}

/** A poisoned request is answered when its front door and number can still be read. */
export interface PoisonedRequest extends PoisonedEntry {
  replyTo?: { frontDoor: string; n: number }
}

/**
 * Decodes the fields of one entry (`d`, then `w`). Never throws: whatever cannot be read is returned in `poisoned`,
 * either the whole entry or a single invalid request. `partitionType` is the kind of the partition that the entry was
 * read from.
 */
export function decodeEntry(streamId: string, fields: string[], partitionType = 'live'): ReadEntry {
  // Names and values alternate, and our entries begin with `d`. A foreign entry is stored whole.
  const payload = (fields[0] === 'd' ? fields[1] : undefined) ?? JSON.stringify(fields)
  const read: ReadEntry = { streamId, requests: [], poisoned: [], events: 0, bytes: payload.length }
  const entry = parse(payload)
  if (!Envelope.Check(entry)) {
    read.poisoned.push({ streamId, reason: 'The entry is not a group of requests.', payload })
    return read
  }
  for (const candidate of entry.requests) {
    const reason = describeInvalid(candidate) ?? describeMisplaced(candidate as IngestRequest, partitionType)
    if (reason === undefined) addRequest(read, entry.frontDoor, candidate as IngestRequest)
    else read.poisoned.push(poison(streamId, reason, candidate, entry.frontDoor))
  }
  return read
}

/**
 * Returns undefined for a valid request. Otherwise returns the error message, without values, which can be personal
 * data.
 */
export function describeInvalid(candidate: unknown): string | undefined {
  const kind = isRecord(candidate) ? candidate['kind'] : undefined
  if (typeof kind !== 'string' || !Object.hasOwn(REQUESTS, kind)) return 'The request has an unknown kind.'
  const check = REQUESTS[kind as IngestRequest['kind']]
  if (check.Check(candidate)) return undefined
  const first = check.Errors(candidate).First()
  return `The ${kind} request is malformed${first ? ` at ${first.path || '/'}: ${first.message}` : ''}.`
}

/** Captures belong in web partitions; all other requests belong in other partitions. */
function describeMisplaced({ kind }: IngestRequest, partitionType: string): string | undefined {
  return (partitionKind(kind) === 'web') === (partitionType === 'web')
    ? undefined
    : `A ${kind} request does not belong in this partition.`
}

/** Returns the number of events of a request. Micro-batches are limited by it. */
export function eventsOf(request: IngestRequest): number {
  if (request.kind === 'capture') return request.hits.length
  return isBatch(request) ? request.items.length : 1
}

function addRequest(read: ReadEntry, frontDoor: string, request: IngestRequest): void {
  read.requests.push({ streamId: read.streamId, frontDoor, request })
  read.events += eventsOf(request)
}

function poison(streamId: string, reason: string, candidate: unknown, frontDoor: string): PoisonedRequest {
  const poisoned: PoisonedRequest = { streamId, reason, payload: JSON.stringify(candidate) }
  const { n, businessId } = isRecord(candidate) ? candidate : {}
  if (typeof n === 'number') poisoned.replyTo = { frontDoor, n }
  if (typeof businessId === 'string') poisoned.businessId = businessId
  return poisoned
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return undefined
  }
}
