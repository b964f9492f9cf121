/** Reads one parsed JSON value into an event for the rules: for track and for items of a batch. */
import type { EventFact } from '../../../rules/events/facts.ts'
import type { Fault } from '../../../rules/events/fault.ts'
import { readIdentity } from '../../../rules/identity/identity.ts'
import { interpret } from '../../../rules/events/interpret.ts'
import { readOccurredAt } from '../../../rules/events/occurred-at.ts'
import { readTags } from '../../../rules/events/tags.ts'
import { hasMoreBytes, hasMoreValues, sanitiseJson } from '../../../rules/events/text.ts'
import { readTraits } from '../../../rules/events/traits.ts'
import { compileCheck, uncleanIssues } from '../../http/check-body.ts'
import type { Business } from '../../access/find-business.ts'
import { reject, rejectOtherBusiness, rejectShape, type Rejection } from '../../http/rejection.ts'
import { type EventBody, EventSchema } from './event-schema.ts'
import { compileNearMisses } from '../warn-of-near-misses.ts'

const MAX_PROPERTIES_BYTES = 32_768

const checkEvent = compileCheck(EventSchema)
const warnOfNearMisses = compileNearMisses(EventSchema)

/** `now`: epoch ms of the receipt. */
export function readEvent(raw: unknown, business: Business, now: number): { fact: EventFact } | Rejection {
  const elsewhere = rejectOtherBusiness(raw, business)
  if (elsewhere !== null) return elsewhere
  const checked = checkEvent(raw)
  return 'issues' in checked ? rejectShape(checked.issues) : readFields(raw, checked.body, business, now)
}

function readFields(raw: unknown, body: EventBody, business: Business, now: number): { fact: EventFact } | Rejection {
  const identity = readIdentity(body.identity, business.country)
  const tags = readTags(body.tags ?? [])
  const traits = readTraits(body.traits ?? {})
  const properties = readProperties(body.properties, 'properties')
  const { event, currency, idempotencyKey, visitorId } = body
  const unclean = uncleanIssues({ event, currency, idempotencyKey, visitorId })
  const faults = [...unclean, ...identity.faults, ...tags.faults, ...traits.faults, ...properties.faults]
  if (faults.length > 0) return reject('invalid_request', faults)
  if (identity.identity === null) return reject('identity_required')
  if (properties.tooLarge) return reject('properties_too_large')
  const time = body.occurredAt === undefined ? { at: now } : readOccurredAt(body.occurredAt, now)
  if ('fault' in time) return reject('invalid_occurred_at', [{ path: 'occurredAt', message: time.fault }])
  return {
    fact: {
      event,
      identity: identity.identity,
      occurredAt: time.at,
      occurredAtSent: body.occurredAt !== undefined,
      meaning: interpret(body, business.currency),
      value: body.value ?? null,
      properties: properties.text,
      tags: tags.tags,
      traits: traits.traits,
      idempotencyKey: idempotencyKey ?? null,
      visitorId: visitorId || null,
      warnings: [
        ...identity.warnings,
        ...(time.warning === undefined ? [] : [time.warning]),
        ...traits.warnings,
        ...properties.warnings,
        ...warnOfNearMisses(raw),
      ],
    },
  }
}

interface ReadProperties {
  /** Compact JSON; null when none was sent. */
  text: string | null
  tooLarge: boolean
  warnings: string[]
  faults: Fault[]
}

/** `name`: the name of the field in the body, for messages. */
export function readProperties(raw: Record<string, unknown> | undefined, name: string): ReadProperties {
  const read: ReadProperties = { text: null, tooLarge: false, warnings: [], faults: [] }
  if (raw === undefined) return read
  if (hasMoreValues(raw, MAX_PROPERTIES_BYTES / 2)) return { ...read, tooLarge: true }
  const { value, changed, tooDeep } = sanitiseJson(raw)
  if (tooDeep) return { ...read, faults: [{ path: name, message: `${name} is nested too deeply` }] }
  const warnings = changed ? [`${name} held values that cannot be stored; they were replaced`] : []
  const text = JSON.stringify(value)
  return { ...read, text, tooLarge: hasMoreBytes(text, MAX_PROPERTIES_BYTES), warnings }
}
