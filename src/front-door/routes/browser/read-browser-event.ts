/**
 * Reads the body of a browser's `track` into an event for the rules. Amounts, tags and traits from a page are ignored.
 */
import type { BrowserFact, Touch } from '../../../rules/events/facts.ts'
import { meaningOfName } from '../../../rules/events/interpret.ts'
import { sanitiseJson } from '../../../rules/events/text.ts'
import { compileCheck, uncleanIssues } from '../../http/check-body.ts'
import { warnOfLargeIntegers } from '../../http/large-integers.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { readProperties } from '../sdk/read-event.ts'
import { reject, rejectOtherBusiness, rejectShape, type Rejection } from '../../http/rejection.ts'
import { type BrowserTrackBody, BrowserTrackSchema, type TouchBody } from './track-schema.ts'
import { warnOfIgnored } from '../warn-of-ignored.ts'
import { compileNearMisses } from '../warn-of-near-misses.ts'

/** `visitorId` is null for a page that cannot store one. */
export type ReadBrowserEvent = Omit<BrowserFact, 'visitorId'> & { visitorId: string | null }

const HOUR_MS = 3_600_000
/** The script keeps unsent calls for 7 days; one hour is added for inaccurate clocks. */
export const MAX_AGE_MS = 7 * 24 * HOUR_MS + HOUR_MS

const checkBody = compileCheck(BrowserTrackSchema)
const warnOfNearMisses = compileNearMisses(BrowserTrackSchema)

/** `now`: time of receipt in epoch ms. */
export function readBrowserEvent(
  raw: unknown,
  business: Business,
  now: number,
): { fact: ReadBrowserEvent } | Rejection {
  const mismatch = rejectOtherBusiness(raw, business)
  if (mismatch !== null) return mismatch
  const checked = checkBody(raw)
  return 'issues' in checked ? rejectShape(checked.issues) : readFields(raw, checked.body, now)
}

function readFields(raw: unknown, body: BrowserTrackBody, now: number): { fact: ReadBrowserEvent } | Rejection {
  const { event, messageId, visitorId } = body
  const properties = readProperties(body.details, 'details')
  const faults = [...uncleanIssues({ event, messageId }), ...properties.faults]
  if (faults.length > 0) return reject('invalid_request', faults)
  if (properties.tooLarge) return reject('properties_too_large')
  return {
    fact: {
      event,
      visitorId: visitorId ?? null,
      occurredAt: now - Math.round(Math.min(body.ageMs ?? 0, MAX_AGE_MS)),
      meaning: meaningOfName(event),
      properties: properties.text,
      messageId: messageId ?? null,
      first: readTouch(body.first, now),
      latest: readTouch(body.latest, now),
      warnings: [
        ...warnOfIgnored(raw),
        ...properties.warnings,
        ...(visitorId === undefined ? [NOT_KEPT] : []),
        ...warnOfLargeIntegers(raw, ['details']),
        ...warnOfNearMisses(raw),
      ],
    },
  }
}

const NOT_KEPT = 'the event was not kept: without a visitorId it can never belong to a contact'

/** Returns a touch with only characters that both databases can store. `now`: time of receipt in epoch ms. */
export function readTouch(touch: TouchBody | undefined, now: number): Touch | null {
  if (touch === undefined) return null
  const { ageMs, ...fields } = touch
  const clean = sanitiseJson(fields).value as unknown as Omit<Touch, 'at'>
  return { at: Math.max(0, Math.round(now - ageMs)), ...clean }
}
