/**
 * Asks the workers to start campaigns with what a browser has captured. Only workers know which contact uses the
 * browser.
 */
import { RequestError } from '../../../errors.ts'
import type { FiredTrigger } from '../../../rules/campaigns/web-trigger-fact.ts'
import { type SeenPage, WEB_TRIGGERS, compileWebTrigger } from '../../../rules/campaigns/web-trigger.ts'
import type { WebHit } from '../../../rules/visitors/web-facts.ts'
import type { Business } from '../../../businesses/find-business.ts'
import type { AppContext, RequestContext } from '../../app-context.ts'
import { submitRequest } from '../submit-request.ts'
import type { Capture } from './read-capture.ts'

/** Maximum of pairs of page view and campaign in one request, since one stream entry carries them. */
export const MAX_FIRED = 100

/**
 * Submits the campaigns whose web triggers the hits match. A browser resends a rejected request; even then, a page view
 * starts a campaign only once. Throws RequestError: unavailable, outcome_unknown.
 */
export async function fireWebTriggers(
  app: AppContext,
  context: RequestContext,
  { id: businessId, webTriggers }: Business,
  { visitorId, hits }: Capture,
): Promise<void> {
  if (webTriggers.length === 0) return
  const triggers = webTriggers.map((trigger) => ({ ...trigger, test: compileWebTrigger(trigger) }))
  const fired = new Map<string, FiredTrigger>()
  for (const hit of hits) {
    const name = WEB_TRIGGERS[hit.kind]
    const matching = triggers.filter(({ web }) => web === name)
    if (matching.length === 0) continue
    const page = await describePage(app, { businessId, visitorId }, hit)
    const { pageId, occurredAt } = hit
    for (const { campaignId, test } of matching) {
      const key = `${pageId} ${campaignId}`
      const isNew = fired.size < MAX_FIRED && !fired.has(key)
      if (isNew && test(page)) fired.set(key, { campaignId, name, pageId, occurredAt, page })
    }
  }
  if (fired.size === 0) return
  const { receivedAt, requestId } = context
  const fact = { visitorId, fired: [...fired.values()] }
  const request = { kind: 'web_trigger', businessId, receivedAt, requestId, fact } as const
  await submitRequest(app, context, request, { keyed: false, wait: false })
}

interface Browser {
  businessId: string
  visitorId: string
}

async function describePage(app: AppContext, browser: Browser, hit: WebHit): Promise<SeenPage> {
  const { pathname: path = '', host = '' } = URL.canParse(hit.url) ? new URL(hit.url) : {}
  if (hit.kind === 'scroll') return { path, host, depth: hit.depth }
  if (hit.kind === 'time') return { path, host, seconds: (await sumActive(app, browser, hit)) / 1000 }
  return { path, host }
}

/** Seconds for which the times of a page view are kept after its last hit. After that, its time is counted from 0. */
const KEEP_S = 3600
/** Time hits kept per page view: those of a day, since the script reports the time once a minute. */
export const MAX_TIMES = 1440

/**
 * Returns the active milliseconds of the page view so far. Each hit has the time since the hit before, and may be sent
 * twice, so the times are stored by hit.
 */
async function sumActive({ redis, log }: AppContext, { businessId, visitorId }: Browser, hit: WebHit): Promise<number> {
  const key = `sluice:page:${businessId}:${visitorId}:${hit.pageId}`
  try {
    const known = await redis.hgetall(key)
    known[hit.id] = String(hit.activeMs)
    if (Object.keys(known).length <= MAX_TIMES)
      await redis.pipeline().hset(key, hit.id, hit.activeMs).expire(key, KEEP_S).exec()
    return Object.values(known).reduce((sum, ms) => sum + Number(ms), 0)
  } catch (error) {
    log.warn({ err: error }, 'the time of a page view could not be read')
    throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
  }
}
