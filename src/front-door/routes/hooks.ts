/** `/api/hooks/{channel}/{provider}/{token}`: providers report the outcome of messages, and the replies of people. */
import { RequestError } from '../../errors.ts'
import { callbacksOf } from '../../messages/callbacks/callbacks-of.ts'
import type { OptOut } from '../../messages/callbacks/find-opted-out.ts'
import { MAX_FACTS, receiveCallback, shakeHands } from '../../messages/callbacks/receive-callback.ts'
import { type CallbackPlace, callbackUrl, readCallbackToken } from '../../messages/callbacks/token.ts'
import { loadMessageKey } from '../../messages/message-key.ts'
import { readPreferences } from '../../messages/unsubscribe/read-preferences.ts'
import { MESSAGE_CHANNELS } from '../../messages/templates/template.ts'
import { getText } from '../../outbound/post.ts'
import { SealError } from '../../stores/seal-secret.ts'
import { chargeForgedCallback } from '../access/charge.ts'
import { acquireSlot } from '../access/concurrency-limit.ts'
import type { AppContext, RequestContext, Route } from '../app-context.ts'
import { BODY_LIMITS, readRaw } from '../http/read-body.ts'
import { submitRequest } from './submit-request.ts'

/** Timeout of requests for a certificate, or to confirm a subscription. */
const FETCH_MS = 5000

async function postHook(app: AppContext, context: RequestContext): Promise<Response> {
  const place = await requirePlace(app, context)
  const body = await readRaw(app, context, BODY_LIMITS.callback)
  const { request, receivedAt } = context
  const url = `${callbackUrl(app.config, await loadMessageKey(app.sql), place)}${new URL(request.url).search}`
  const { sql, log, config } = app
  const deps = { sql, log, secretsKey: config.secretsKey, fetchText: (from: string) => fetchText(app, from) }
  const outcome = await withSealErrors(() =>
    receiveCallback(deps, place, { url, headers: request.headers, body, receivedAt }),
  )
  if (outcome.kind === 'forged') throw await refusal(app, context)
  if (outcome.kind === 'too_many')
    throw new RequestError('payload_too_large', {
      message: `A callback has at most ${MAX_FACTS} reports. None of them was recorded: send them in several.`,
    })
  for (const optOut of outcome.optOuts) await recordOptOut(app, context, place, optOut)
  const { answer } = outcome
  return new Response(answer?.body ?? '', { status: 200, ...(answer && { headers: { 'Content-Type': answer.type } }) })
}

/** Like a choice of the past: a later one stands. */
async function recordOptOut(
  app: AppContext,
  context: RequestContext,
  { businessId, channel }: CallbackPlace,
  { contactId, method, at }: OptOut,
): Promise<void> {
  const preferences = await readPreferences(app.sql, { businessId, contactId })
  if (preferences === null || preferences.contactId === null) return
  // A worker would make it a dead letter.
  if (!preferences.business.active) throw new RequestError('unavailable')
  const { receivedAt, requestId } = context
  const base = { kind: 'subscribe', businessId, receivedAt, requestId, contactId: preferences.contactId } as const
  await submitRequest(app, context, { ...base, channels: { [channel]: false }, method, at }, { keyed: false })
}

/** Before Meta reports anything, it checks that the address belongs to Sluice. */
async function getHook(app: AppContext, context: RequestContext): Promise<Response> {
  const place = await requirePlace(app, context)
  if (callbacksOf(place.provider)?.handshake === undefined)
    throw new RequestError('method_not_allowed', { headers: { Allow: 'POST' } })
  const query = new URL(context.request.url).searchParams
  const deps = { sql: app.sql, secretsKey: app.config.secretsKey }
  const answer = await withSealErrors(() => shakeHands(deps, place, query))
  if (answer === null) throw await refusal(app, context)
  return new Response(answer, { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}

/** Throws RequestError: forged_callback, rate_limited, unavailable. */
async function requirePlace(app: AppContext, context: RequestContext): Promise<CallbackPlace> {
  const { channel: sent, provider = '', token = '' } = context.params
  const channel = MESSAGE_CHANNELS.find((one) => one === sent)
  const key = await loadMessageKey(app.sql)
  const found = channel === undefined ? null : readCallbackToken(key, { channel, provider }, token)
  if (channel === undefined || found === null) throw await refusal(app, context)
  context.businessId = found.businessId
  await acquireSlot(app.slots.callback, context, found.businessId)
  return { ...found, channel, provider }
}

/** Charges the caller, so that guesses are limited. */
async function refusal(app: AppContext, context: RequestContext): Promise<RequestError> {
  await chargeForgedCallback(app, context)
  return new RequestError('forged_callback')
}

async function fetchText({ guard }: AppContext, url: string): Promise<string> {
  try {
    return await getText(url, guard, AbortSignal.timeout(FETCH_MS))
  } catch (cause) {
    throw new RequestError('unavailable', { cause })
  }
}

/**
 * Answers `unavailable` when secrets cannot be opened. The provider sends the callback again, and an operator can
 * correct the key in the meantime.
 */
async function withSealErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    throw cause instanceof SealError ? new RequestError('unavailable', { cause }) : cause
  }
}

const PATH = '/api/hooks/:channel/:provider/:token'

export const hookRoutes: readonly Route[] = [
  { method: 'GET', path: PATH, answer: getHook, operation: null },
  { method: 'POST', path: PATH, answer: postHook, operation: null },
]
