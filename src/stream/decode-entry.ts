/** Entry ⇄ stream fields. What a worker reads is checked: nothing that a rule cannot rely on goes further. */
import { type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type * as facts from '../rules/events/facts.ts'
import { CHANNELS, CLICK_IDS, EVENT_TYPES, PROFILE_FIELDS, UTM_FIELDS } from '../rules/events/facts.ts'
import { HIT_KINDS, type WebHit } from '../rules/visitors/web-facts.ts'
import type { Request } from './entry.ts'
import type { BatchedRequest, PoisonedEntry } from './micro-batch.ts'
import { partitionKind } from './partition-of.ts'

const text = Type.String()
const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()])
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)))
const optionals = (names: readonly string[], schema: TSchema) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(schema)])))
/** What a date can hold. Every store takes these; what is beyond would be refused again and again. */
const FARTHEST = 8.64e15
const instant = Type.Integer({ minimum: -FARTHEST, maximum: FARTHEST })
const whole = Type.Integer({ minimum: 0, maximum: FARTHEST })
/** Neither NUL nor a lone surrogate: Postgres keeps it as it is. */
const clean = Type.RegExp(/^[^\0\p{Surrogate}]*$/u)

/** A schema for every field of a shape: the compiler asks for those that are missing, and refuses others. */
const shape = <Shape extends object>(schemas: Record<keyof Shape, TSchema>) => Type.Object(schemas)

const Identity = shape<facts.Identity>({
  platformCustomerId: Type.Optional(text),
  email: Type.Optional(text),
  phone: Type.Optional(text),
  phoneRead: Type.Optional(Type.Boolean()),
})
const Traits = Type.Record(text, nullable(Type.Union([text, Type.Number(), Type.Boolean()])))
const Meaning = shape<facts.Meaning>({
  type: oneOf(...EVENT_TYPES, 'none'),
  counted: Type.String({ pattern: '^-?\\d+(\\.\\d+)?$' }),
  currency: nullable(text),
  order: Type.Boolean(),
  warning: Type.Optional(text),
})
const EventFact = shape<facts.EventFact>({
  event: text,
  identity: Identity,
  occurredAt: instant,
  occurredAtSent: Type.Boolean(),
  meaning: Meaning,
  value: nullable(Type.Number()),
  properties: nullable(text),
  tags: Type.Array(text),
  traits: Traits,
  idempotencyKey: nullable(text),
  visitorId: nullable(text),
  warnings: Type.Array(text),
})
const Touch = shape<facts.Touch>({
  at: instant,
  url: clean,
  referrer: Type.Optional(clean),
  utm: Type.Optional(optionals(UTM_FIELDS, clean)),
  clickIds: Type.Optional(optionals(CLICK_IDS, clean)),
})
const BrowserFact = shape<facts.BrowserFact>({
  event: text,
  visitorId: text,
  occurredAt: instant,
  meaning: Meaning,
  properties: nullable(text),
  messageId: nullable(text),
  first: nullable(Touch),
  latest: nullable(Touch),
  warnings: Type.Array(text),
})
const IdentifyFact = shape<facts.IdentifyFact>({
  identity: Identity,
  profile: optionals(PROFILE_FIELDS, text),
  traits: Traits,
  method: nullable(text),
  visitorId: nullable(text),
  ageMs: Type.Optional(whole),
  traitsAt: Type.Optional(instant),
  warnings: Type.Array(text),
})

const Hit = shape<WebHit>({
  id: text,
  kind: oneOf(...HIT_KINDS),
  pageId: text,
  occurredAt: whole,
  url: text,
  title: text,
  referrer: text,
  depth: whole,
  activeMs: whole,
  idleMs: whole,
})
const base = {
  n: Type.Integer(),
  businessId: text,
  receivedAt: instant,
  requestId: text,
  replayOf: Type.Optional(text),
}
const compile = (fields: Record<string, TSchema>) => TypeCompiler.Compile(Type.Object({ ...base, ...fields }))
const REQUESTS: Record<Request['kind'], TypeCheck<TSchema>> = {
  track: compile({ keyed: Type.Boolean(), source: oneOf('live', 'browser'), fact: EventFact }),
  browser: compile({ fact: BrowserFact }),
  batch: compile({ items: Type.Array(Type.Object({ index: Type.Integer(), fact: EventFact })) }),
  identify: compile({ keyed: Type.Boolean(), fact: IdentifyFact }),
  erase: compile({ contactId: text }),
  subscribe: compile({ contactId: text, channels: optionals(CHANNELS, Type.Boolean()), method: text }),
  edit: compile({
    contactId: text,
    fact: shape<facts.EditFact>({
      profile: optionals(PROFILE_FIELDS, nullable(text)),
      traits: Traits,
      addTags: Type.Array(text),
      removeTags: Type.Array(text),
      warnings: Type.Array(text),
    }),
  }),
  capture: compile({
    businessId: Type.String({ pattern: '^[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}$' }),
    visitorId: Type.String({ pattern: '^[\\da-f]{32}$' }),
    hits: Type.Array(Hit),
    touches: Type.Object({ first: nullable(Touch), latest: nullable(Touch) }),
  }),
}
const Envelope = TypeCompiler.Compile(Type.Object({ frontDoor: text, requests: Type.Array(Type.Unknown()) }))

/** The JSON of an Entry, from requests that are JSON already. */
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

/** A poisoned request is answered when it still tells who asked. */
export interface PoisonedRequest extends PoisonedEntry {
  asker?: { frontDoor: string; n: number }
}

/**
 * Reads one entry's fields (`d`, then `w`). Never throws: what cannot be read is in `poisoned`, a whole entry or the
 * one request that is not as it should be. `partitionType`: the kind of partition that it lies in.
 */
export function decodeEntry(streamId: string, fields: string[], partitionType = 'live'): ReadEntry {
  // Fields come as names and values in turn; ours has `d` first. Of another's entry all is kept.
  const payload = (fields[0] === 'd' ? fields[1] : undefined) ?? JSON.stringify(fields)
  const read: ReadEntry = { streamId, requests: [], poisoned: [], events: 0, bytes: payload.length }
  const entry = parse(payload)
  if (!Envelope.Check(entry)) {
    read.poisoned.push({ streamId, reason: 'The entry is not a group of requests.', payload })
    return read
  }
  for (const candidate of entry.requests) {
    const reason = fault(candidate) ?? strayed(candidate as Request, partitionType)
    if (reason === undefined) addRequest(read, entry.frontDoor, candidate as Request)
    else read.poisoned.push(poison(streamId, reason, candidate, entry.frontDoor))
  }
  return read
}

/** Undefined when it is a Request; else what is wrong, in words and without values (they can be personal data). */
export function fault(candidate: unknown): string | undefined {
  const kind = isRecord(candidate) ? candidate['kind'] : undefined
  if (typeof kind !== 'string' || !Object.hasOwn(REQUESTS, kind)) return 'The request is of no known kind.'
  const check = REQUESTS[kind as Request['kind']]
  if (check.Check(candidate)) return undefined
  const first = check.Errors(candidate).First()
  return `The ${kind} request is malformed${first ? ` at ${first.path || '/'}: ${first.message}` : ''}.`
}

/** What was captured is no event, and no event is web traffic, wherever somebody put it. */
function strayed({ kind }: Request, partitionType: string): string | undefined {
  return (partitionKind(kind) === 'web') === (partitionType === 'web')
    ? undefined
    : `A ${kind} request has no place here.`
}

/** How much work a request is: micro-batches are capped by it. */
export function eventsOf(request: Request): number {
  if (request.kind === 'capture') return request.hits.length
  return request.kind === 'batch' ? request.items.length : 1
}

function addRequest(read: ReadEntry, frontDoor: string, request: Request): void {
  read.requests.push({ streamId: read.streamId, frontDoor, request })
  read.events += eventsOf(request)
}

function poison(streamId: string, reason: string, candidate: unknown, frontDoor: string): PoisonedRequest {
  const poisoned: PoisonedRequest = { streamId, reason, payload: JSON.stringify(candidate) }
  const { n, businessId } = isRecord(candidate) ? candidate : {}
  if (typeof n === 'number') poisoned.asker = { frontDoor, n }
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
