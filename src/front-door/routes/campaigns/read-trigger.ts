/** Reads the trigger of a campaign. */
import { type Fault, faultOf } from '../../../rules/faults.ts'
import type { CampaignTrigger } from '../../../campaigns/campaign.ts'
import { readEventTrigger } from '../../../rules/campaigns/read-event-trigger.ts'
import { readWebTrigger } from '../../../rules/campaigns/read-web-trigger.ts'
import type { WebTriggerName } from '../../../rules/campaigns/web-trigger.ts'
import { takeObject } from '../../../rules/campaigns/read-words.ts'
import { trimText } from '../../../rules/events/text.ts'
import { readIso } from '../../../rules/events/read-iso.ts'
import type { Faults } from '../../../rules/segments/reading/reading.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { isRecord } from '../../../rules/is-record.ts'

/** For broadcasts. */
export const MAX_DAYS_AHEAD = 365
const DAY_MS = 86_400_000

/** A trigger in the form that the schema accepts. */
export type SentTrigger = { event: string } | { web: WebTriggerName } | SentSegmentTrigger
interface SentSegmentTrigger {
  segment: string
  on: 'enter' | 'leave' | 'members'
  at?: unknown
}

/**
 * Rejects unknown fields, since a typing error must not change who is enrolled. Throws RequestError `invalid_request`.
 *
 * @param body the body of the request, whose trigger contains everything that was sent
 */
export function readTrigger(checked: SentTrigger, body: unknown, now: number): CampaignTrigger {
  const raw = isRecord(body) && isRecord(body['trigger']) ? body['trigger'] : {}
  if ('segment' in checked) return readSegmentTrigger(checked, raw, now)
  const read = 'web' in checked ? readWebTrigger(checked.web, raw) : readEventTrigger(checked.event, raw)
  if ('faults' in read) throw invalidRequest(read.faults)
  return read.trigger
}

function readSegmentTrigger(
  { segment: id, on, at }: SentSegmentTrigger,
  raw: Record<string, unknown>,
  now: number,
): CampaignTrigger {
  const reading: Faults = { faults: [] }
  takeObject(reading, raw, 'trigger', ['segment', 'on', 'at'])
  if (reading.faults.length > 0) throw invalidRequest(reading.faults)
  const segment = id.toLowerCase()
  if (on === 'members') return { segment, on, ...(at !== undefined && { at: readAt(at, now) }) }
  if (at !== undefined) throw refused(faultOf('trigger.at', 'for_a_broadcast'))
  return { segment, on }
}

function readAt(sent: unknown, now: number): string {
  const at = typeof sent === 'string' ? readIso(trimText(sent)) : undefined
  if (at === undefined) throw refused(faultOf('trigger.at', 'instant'))
  if (at > now + MAX_DAYS_AHEAD * DAY_MS) throw refused(faultOf('trigger.at', 'days_ahead', { max: MAX_DAYS_AHEAD }))
  return new Date(at).toISOString()
}

const refused = (fault: Fault) => invalidRequest([fault])
