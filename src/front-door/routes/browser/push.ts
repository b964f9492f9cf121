import { Type } from '@sinclair/typebox'
import { isBrowserKey } from '../../../messages/channels/web-push/encrypt.ts'
import {
  type PushSubscription,
  endPushSubscriptions,
  keepPushSubscription,
  readPublicKey,
} from '../../../messages/push/subscriptions.ts'
import { RefusedTargetError, resolveTarget } from '../../../outbound/resolve-target.ts'
import { findCaller } from '../../access/authenticate.ts'
import { PAGE_ERRORS, authenticateBrowser, isIgnoredBot } from '../../access/authenticate-browser.ts'
import { chargeVisitor } from '../../access/charge.ts'
import type { AppContext, Reply, RequestContext, Route } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { rejectOtherBusiness, toRequestError } from '../../http/rejection.ts'
import { closed, ignoredBot, orNull } from '../reply-fields.ts'
import { type PushBody, PushSchema } from './push-schema.ts'

const ENDPOINT = 'browser-push'
const LOOKUP_MS = 5000

const checkBody = compileCheck(PushSchema)

async function browserPush(app: AppContext, context: RequestContext): Promise<Reply> {
  const caller = await findCaller(app, context)
  const { business, body: raw } = await authenticateBrowser(app, context, caller?.business, {
    endpoint: ENDPOINT,
    limit: BODY_LIMITS.browser,
  })
  const mismatch = rejectOtherBusiness(raw, business)
  if (mismatch !== null) throw toRequestError(mismatch)
  const body = requireBody(checkBody(raw))
  const publicKey = await readPublicKey(app.sql, business.id)
  if (isIgnoredBot(app, context, business, ENDPOINT)) return { message: DONE, data: { publicKey, ignored: 'bot' } }
  const subscription = readSubscription(body)
  const { visitorId } = body
  if (visitorId === undefined) return { message: DONE, data: { publicKey } }
  await chargeVisitor(app, context, business, visitorId, ENDPOINT)
  const visitor = { businessId: business.id, visitorId }
  if (body.unsubscribe === true) await endPushSubscriptions(app.sql, visitor)
  if (subscription === null || publicKey === null) return { message: DONE, data: { publicKey } }
  await checkEndpoint(app, subscription.endpoint)
  const isKept = await keepPushSubscription(app.sql, visitor, subscription, context.receivedAt)
  return { message: DONE, data: { publicKey: isKept ? publicKey : null } }
}

const DONE = 'The browser is known.'

/** Returns null when no subscription was sent. Throws RequestError `invalid_request`. */
function readSubscription({ visitorId, subscription, unsubscribe }: PushBody): PushSubscription | null {
  if (visitorId === undefined && (subscription !== undefined || unsubscribe === true))
    throw refuse('visitorId', 'visitorId is required with subscription and unsubscribe')
  if (subscription === undefined) return null
  if (unsubscribe === true) throw refuse('unsubscribe', 'unsubscribe must come without a subscription')
  const { endpoint, keys } = subscription
  if (!URL.canParse(endpoint))
    throw refuse('subscription.endpoint', 'subscription.endpoint must be an https address, as the browser gives it')
  if (!isBrowserKey(keys.p256dh))
    throw refuse('subscription.keys.p256dh', 'subscription.keys.p256dh must be a point of P-256')
  return { endpoint, ...keys }
}

/**
 * Rejects an endpoint that must not be called, without revealing anything about the network. Accepts a host that cannot
 * be resolved now, since it may be resolvable later. Throws RequestError `invalid_request`.
 */
async function checkEndpoint({ guard }: AppContext, endpoint: string): Promise<void> {
  try {
    await resolveTarget(new URL(endpoint), guard, AbortSignal.timeout(LOOKUP_MS))
  } catch (error) {
    if (error instanceof RefusedTargetError)
      throw refuse('subscription.endpoint', 'subscription.endpoint must be the address of a push service')
  }
}

const refuse = (path: string, message: string) => invalidRequest([{ path, message }])

const PushData = Type.Object(
  {
    publicKey: orNull(
      Type.String({
        description:
          'The key to subscribe with (`applicationServerKey`). Null: the business sends no push messages to browsers, and nothing is kept.',
      }),
    ),
    ignored: ignoredBot,
  },
  closed,
)

export const browserPushRoute: Route = {
  method: 'POST',
  path: '/api/sdk/browser/push',
  answer: browserPush,
  crossOrigin: true,
  operation: {
    summary: 'Say where a browser takes push messages',
    description:
      '`sluice.push` sends this. With a `subscription`, the browser of the visitor takes push messages there from now on; it records no ' +
      'opt-in. The same endpoint again replaces what was known of it. With `unsubscribe`, it takes none. With neither, only the answer ' +
      'matters. At most 10 browsers of a contact are kept: one more replaces the oldest. A contact that a call with a secret key has used ' +
      'is reached once such a call has named the `visitorId`. Unless the business allows bots, nothing is kept of a bot or a headless ' +
      'browser, and the answer has `ignored: "bot"`.',
    tag: 'Messages',
    key: 'publishable',
    body: {
      schema: PushSchema,
      media: BODY_LIMITS.browser.media,
      example: {
        businessId: '0198c5a0-7c01-7d4e-8a11-3c5b7d9e1f20',
        visitorId: '5f0c6d1be2a94f37a3d8c4b9e17f2a60',
        subscription: {
          endpoint: 'https://push.example.com/send/c2x1aWNl',
          keys: {
            p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
            auth: 'BTBZMqHH6r4Tts7J_aSIgg',
          },
        },
      },
    },
    replies: {
      200: {
        message: DONE,
        description: 'Done.',
        data: PushData,
        example: {
          publicKey: 'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
        },
      },
    },
    errors: PAGE_ERRORS,
  },
}
