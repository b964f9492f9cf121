import type { CampaignTrigger } from '../../../campaigns/campaign.ts'
import { trimText } from '../../../rules/events/text.ts'
import { readIso } from '../../../rules/events/read-iso.ts'
import { invalidRequest } from '../../http/check-body.ts'

/** Of a broadcast. */
export const MAX_DAYS_AHEAD = 365
const DAY_MS = 86_400_000

/** As the schema lets it through. */
export type SentTrigger = { event: string } | { segment: string; on: 'enter' | 'leave' | 'members'; at?: unknown }

/** Only the fields of one trigger. Throws RequestError `invalid_request`. */
export function readTrigger(sent: SentTrigger, now: number): CampaignTrigger {
  if ('event' in sent) return { event: sent.event }
  const segment = sent.segment.toLowerCase()
  const { on, at } = sent
  if (on === 'members') return { segment, on, ...(at !== undefined && { at: readAt(at, now) }) }
  if (at !== undefined) throw refused('is for a broadcast, whose trigger.on is members')
  return { segment, on }
}

function readAt(sent: unknown, now: number): string {
  const at = typeof sent === 'string' ? readIso(trimText(sent)) : undefined
  if (at === undefined) throw refused('must be an ISO 8601 date or date-time')
  if (at > now + MAX_DAYS_AHEAD * DAY_MS) throw refused(`must be at most ${MAX_DAYS_AHEAD} days ahead`)
  return new Date(at).toISOString()
}

const refused = (reason: string) => invalidRequest([{ path: 'trigger.at', message: `trigger.at ${reason}` }])
