import { Type } from '@sinclair/typebox'
import { findCaller } from '../../access/authenticate.ts'
import { PAGE_ERRORS, authenticateBrowser, isIgnoredBot } from '../../access/authenticate-browser.ts'
import { CaptureSchema } from './capture-schema.ts'
import { chargeVisitor } from '../../access/charge.ts'
import type { RequestContext, AppContext, Reply, Route } from '../../app-context.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { type Capture, readCapture } from './read-capture.ts'
import { toRequestError } from '../../http/rejection.ts'
import { fireWebTriggers } from './fire-web-triggers.ts'
import { ignoredBot } from '../reply-fields.ts'
import { submitRequest } from '../submit-request.ts'

const ENDPOINT = 'browser-capture'

async function capture(app: AppContext, context: RequestContext): Promise<Reply> {
  const caller = await findCaller(app, context)
  const { business, body } = await authenticateBrowser(app, context, caller?.business, {
    endpoint: ENDPOINT,
    limit: BODY_LIMITS.browser,
  })
  const read = readCapture(body, business, context.receivedAt)
  if ('code' in read) throw toRequestError(read)
  const received = read.hits.length
  if (isIgnoredBot(app, context, business, ENDPOINT)) return { message: RECEIVED, data: { received, ignored: 'bot' } }
  await chargeVisitor(app, context, business, read.visitorId, ENDPOINT)
  await submit(app, context, business.id, read)
  await fireWebTriggers(app, context, business, read)
  return { message: RECEIVED, data: { received } }
}

const RECEIVED = 'The hits are received.'

/** Does not wait for a worker: a hit in the stream is durable. */
async function submit(app: AppContext, context: RequestContext, businessId: string, capture: Capture): Promise<void> {
  const { receivedAt, requestId } = context
  const request = { kind: 'capture', businessId, receivedAt, requestId, ...capture } as const
  await submitRequest(app, context, request, { keyed: false, wait: false })
}

const CaptureData = Type.Object(
  { received: Type.Integer({ minimum: 1 }), ignored: ignoredBot },
  { additionalProperties: false },
)

export const browserCaptureRoute: Route = {
  method: 'POST',
  path: '/api/sdk/browser/capture',
  answer: capture,
  crossOrigin: true,
  operation: {
    summary: 'Record page views, scrolling and time',
    description:
      'The browser script sends these hits: JSON, also as text/plain, up to 64 KiB. They are for analytics, and start ' +
      'campaigns with a `web` trigger alone. A hit that is sent again counts once. Unless the business allows bots, hits from a bot or a headless ' +
      'browser are not recorded, and the answer has `ignored: "bot"`.',
    tag: 'Events',
    key: 'publishable',
    body: {
      schema: CaptureSchema,
      media: BODY_LIMITS.browser.media,
      example: {
        businessId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
        visitorId: '5f2b6c1e9a7d4038b1c2d3e4f5a60718',
        hits: [
          {
            id: 'e1f0a9b8c7d6',
            kind: 'page_view',
            ageMs: 420,
            pageId: 'a1b2c3d4e5f6',
            url: 'https://www.example.com/pricing?utm_source=news',
            title: 'Pricing',
          },
        ],
      },
    },
    replies: {
      200: { message: RECEIVED, description: 'Received and stored.', data: CaptureData, example: { received: 1 } },
    },
    errors: PAGE_ERRORS,
  },
}
