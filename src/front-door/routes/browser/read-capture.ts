/** Reads a parsed capture body into hits for the stream. */
import { sanitiseText } from '../../../rules/events/text.ts'
import type { Touches, WebHit } from '../../../rules/visitors/web-facts.ts'
import { type CaptureBody, CaptureSchema, type HitBody } from './capture-schema.ts'
import { compileCheck, uncleanIssues } from '../../http/check-body.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { MAX_AGE_MS, readTouch } from './read-browser-event.ts'
import { reject, rejectOtherBusiness, type Rejection } from '../../http/rejection.ts'

export interface Capture {
  visitorId: string
  hits: WebHit[]
  touches: Touches
}

const checkCapture = compileCheck(CaptureSchema)

/** `now`: time of receipt in epoch ms. */
export function readCapture(raw: unknown, business: Business, now: number): Capture | Rejection {
  const mismatch = rejectOtherBusiness(raw, business)
  if (mismatch !== null) return mismatch
  const checked = checkCapture(raw)
  if ('issues' in checked) return reject('invalid_request', checked.issues)
  const { visitorId, hits, first, latest } = checked.body
  const faults = uncleanIssues(idsOf(checked.body))
  if (faults.length > 0) return reject('invalid_request', faults)
  // A visit begins with a page view, and the script sends touches only with page views.
  const hasPageView = hits.some(({ kind }) => kind === 'page_view')
  const touches = { first: readTouch(first, now), latest: readTouch(latest, now) }
  return {
    visitorId,
    hits: hits.map((hit) => readHit(hit, now)),
    touches: hasPageView ? touches : { first: null, latest: null },
  }
}

function idsOf({ hits }: CaptureBody): Record<string, string> {
  return Object.fromEntries(
    hits.flatMap(({ id, pageId }, at) => [
      [`hits.${at}.id`, id],
      [`hits.${at}.pageId`, pageId],
    ]),
  )
}

function readHit(hit: HitBody, now: number): WebHit {
  const { id, kind, pageId, depth = 0 } = hit
  const clean = (text = '') => sanitiseText(text).text
  const within = (ms = 0) => Math.min(ms, MAX_AGE_MS)
  return {
    id,
    kind,
    pageId,
    occurredAt: now - within(hit.ageMs),
    url: clean(hit.url),
    title: clean(hit.title),
    referrer: clean(hit.referrer),
    depth,
    activeMs: within(hit.activeMs),
    idleMs: within(hit.idleMs),
  }
}
