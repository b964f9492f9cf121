import { Type } from '@sinclair/typebox'
import { closed, orNull, uuid, warningList, interpretation, ignoredBot, QueuedTrackData } from '../reply-fields.ts'
import type { BrowserFact } from '../../../rules/events/facts.ts'
import type { BrowserAnswer } from '../../../stream/entry.ts'
import { findCaller } from '../../access/authenticate.ts'
import { PAGE_ERRORS, authenticateBrowser, isIgnoredBot } from '../../access/authenticate-browser.ts'
import { chargeVisitor } from '../../access/charge.ts'
import type { RequestContext, AppContext, Reply, Route } from '../../app-context.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readBrowserEvent, type ReadBrowserEvent } from './read-browser-event.ts'
import { toRequestError } from '../../http/rejection.ts'
import { BrowserTrackSchema } from './track-schema.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'

const ENDPOINT = 'browser-track'

async function browserTrack(app: AppContext, context: RequestContext): Promise<Reply> {
  const caller = await findCaller(app, context)
  const { business, body } = await authenticateBrowser(app, context, caller?.business, {
    endpoint: ENDPOINT,
    limit: BODY_LIMITS.browser,
  })
  const read = readBrowserEvent(body, business, context.receivedAt)
  if ('code' in read) throw toRequestError(read)
  const { fact } = read
  const { visitorId } = fact
  const nothing = { contactId: null, deduped: false, warnings: fact.warnings }
  if (isIgnoredBot(app, context, business, ENDPOINT)) return answer(fact, { ...nothing, ignored: 'bot' })
  if (visitorId === null) return answer(fact, nothing)
  await chargeVisitor(app, context, business, visitorId, ENDPOINT)
  return await submit(app, context, business.id, { ...fact, visitorId })
}

async function submit(app: AppContext, context: RequestContext, businessId: string, fact: BrowserFact): Promise<Reply> {
  const { receivedAt, requestId } = context
  const request = { kind: 'browser', businessId, receivedAt, requestId, fact } as const
  const recorded = await submitRequest(app, context, request, { keyed: false })
  return recorded === null ? queued(fact) : answer(fact, recorded)
}

const TAKEN = 'The event is accepted.'
const KEPT = 'The event is stored and will be recorded once.'

type BrowserResult = BrowserAnswer & { ignored?: 'bot' }

function answer(fact: ReadBrowserEvent, { contactId, deduped, warnings, ignored }: BrowserResult): Reply {
  const interpreted = interpretedOf(fact)
  const data = { contactId, event: fact.event, isNew: false, deduped, interpreted, ...(ignored && { ignored }) }
  const message = deduped ? 'The event had been accepted before.' : TAKEN
  return { message, data: { ...data, ...withWarnings(warnings) } }
}

function queued(fact: BrowserFact): Reply {
  const data = { queued: true, event: fact.event, interpreted: interpretedOf(fact) }
  return { status: 202, message: KEPT, data }
}

const interpretedOf = ({ meaning }: ReadBrowserEvent) => ({ type: meaning.type, countedRevenue: 0 })

const interpreted = { type: 'lead', countedRevenue: 0 }

const BrowserTrackData = Type.Object(
  {
    contactId: orNull(uuid),
    event: Type.String(),
    isNew: Type.Boolean(),
    deduped: Type.Boolean(),
    interpreted: interpretation,
    ignored: ignoredBot,
    warnings: warningList,
  },
  closed,
)

export const browserTrackRoute: Route = {
  method: 'POST',
  path: '/api/sdk/browser/track',
  answer: browserTrack,
  crossOrigin: true,
  operation: {
    summary: 'Record what a visitor did in a page',
    description:
      '`sluice.track` sends this, without a secret key. The event can start a campaign if the visitor is identified. If not, it ' +
      'stays with the visitor until an `identify` call links the visitor to a contact. Nothing is stored without a ' +
      '`visitorId`, or when over 1,000 contacts were identified with the `visitorId`. Unless the business allows bots, an event from ' +
      'a bot or a headless browser is not recorded, and the answer has `ignored: "bot"`. `traits`, `tags` and `value` are ' +
      'ignored, with a warning each; inside `details` they are ordinary fields.',
    tag: 'Events',
    key: 'publishable',
    body: {
      schema: BrowserTrackSchema,
      media: BODY_LIMITS.browser.media,
      example: {
        businessId: '0198c5a0-7c01-7d4e-8a11-3c5b7d9e1f20',
        visitorId: '5f0c6d1be2a94f37a3d8c4b9e17f2a60',
        event: 'form_submitted',
        details: { form: 'demo' },
        messageId: '7c9e6679f2d14a0b',
        ageMs: 120,
      },
    },
    replies: {
      200: {
        message: TAKEN,
        description:
          'Accepted. `contactId` is null until the visitor is identified, and for a visitor id of too many contacts.',
        data: BrowserTrackData,
        example: { contactId: null, event: 'form_submitted', isNew: false, deduped: false, interpreted },
      },
      202: {
        message: KEPT,
        description: 'Stored. It will be applied once, usually within seconds.',
        data: QueuedTrackData,
        example: { queued: true, event: 'form_submitted', interpreted },
      },
    },
    errors: ['properties_too_large', ...PAGE_ERRORS],
  },
}
