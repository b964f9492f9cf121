/**
 * `/u/{token}`: people unsubscribe from messages, and see their other subscriptions. Reading the page changes nothing.
 */
import { RequestError } from '../../../errors.ts'
import { loadMessageKey } from '../../../messages/message-key.ts'
import { INERT_TOKEN } from '../../../messages/public-links.ts'
import { PAGE_METHOD, type Preferences, readPreferences } from '../../../messages/unsubscribe/read-preferences.ts'
import { type Subscriber, readToken } from '../../../messages/unsubscribe/token.ts'
import { CHANNELS, type Channel, type Subscriptions } from '../../../rules/events/facts.ts'
import { chargeForgedLink, chargeLink } from '../../access/charge.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { AppContext, RequestContext, Route } from '../../app-context.ts'
import { errorResponse } from '../../http/error-response.ts'
import { BODY_LIMITS, readForm } from '../../http/read-body.ts'
import { type PageTopic, chosenBoxes } from '../../../messages/unsubscribe/page-topics.ts'
import type { SubscribeRequest } from '../../../rules/item.ts'
import { submitRequest } from '../submit-request.ts'
import { PAGE_HEADERS, type PageStatus, showPreferences, showSentence } from './page.ts'
import { type Wish, readWish } from './read-wish.ts'

async function getPage(app: AppContext, context: RequestContext): Promise<Response> {
  if (isInert(context)) return html(showSentence('inert'))
  const subscriber = await requireSubscriber(app, context)
  return showPage(await requirePreferences(app, subscriber), subscriber, null)
}

async function postPage(app: AppContext, context: RequestContext): Promise<Response> {
  if (isInert(context)) return html(showSentence('inert'))
  const subscriber = await requireSubscriber(app, context)
  const sent = await readForm(app, context, BODY_LIMITS.form)
  const before = await requirePreferences(app, subscriber)
  const target = { channels: ownChannels(subscriber), oneClick: before.oneClick }
  const wish = readWish(sent, { ...target, hasTopic: topicOf(subscriber, before) !== null })
  // A worker would make it a dead letter.
  if (!before.business.active) throw new RequestError('unavailable')
  if (before.contactId === null) return showPage(before, subscriber, null)
  const status = await record(app, context, { ...subscriber, contactId: before.contactId }, wish, before)
  return showPage(await requirePreferences(app, subscriber), subscriber, status)
}

/**
 * Submits the wish and waits for the worker. The worker answers after the commit, so every message that is claimed
 * after that respects the choice.
 */
async function record(
  app: AppContext,
  context: RequestContext,
  subscriber: Subscriber,
  wish: Wish,
  before: Preferences,
): Promise<PageStatus> {
  const { businessId, contactId, channel: own, topic = '' } = subscriber
  const { receivedAt, requestId } = context
  const base = { kind: 'subscribe', businessId, receivedAt, requestId, contactId } as const
  const submit = (more: Pick<SubscribeRequest, 'channels' | 'method'> & Partial<SubscribeRequest>) =>
    submitRequest(app, context, { ...base, ...more }, { keyed: false })
  switch (wish.kind) {
    case 'end': {
      const channels: Partial<Subscriptions> = Object.fromEntries(wish.channels.map((channel) => [channel, false]))
      return (await submit({ channels, method: wish.method, changesOnly: true })) === null ? 'received' : 'didEnd'
    }
    case 'leave': {
      const channel = CHANNELS.find((one) => one === own) ?? 'email'
      const topics = [{ topic, channel, subscribed: false }]
      const answer = await submit({ channels: {}, topics, method: wish.method, changesOnly: true, endsLast: true })
      return answer === null ? 'received' : 'didEnd'
    }
    case 'save': {
      const topics = chosenBoxes(before.topics, wish.channel, wish.boxes, false)
      if (topics.length === 0) return 'didSave'
      const answer = await submit({ channels: {}, topics, method: PAGE_METHOD, changesOnly: true, endsLast: true })
      return answer === null ? 'received' : 'didSave'
    }
    case 'resume': {
      const { channel } = wish
      const choice = before.choices[channel]
      if (choice?.subscribed) return 'didResume'
      if (!choice?.mayResume) return 'didNotResume'
      const topics = chosenBoxes(before.topics, channel, wish.boxes, true)
      const channels = { [channel]: true }
      const answer = await submit({
        channels,
        topics,
        method: PAGE_METHOD,
        replaces: { [channel]: choice.at },
        endsLast: true,
      })
      if (answer === null) return 'received'
      return answer.subscriptions?.[channel] ? 'didResume' : 'didNotResume'
    }
  }
}

/** The topic of the message, if the business still has it with this channel. */
function topicOf({ topic, channel }: Subscriber, { topics }: Preferences): PageTopic | null {
  const found = topic === undefined ? undefined : topics.find(({ key }) => key === topic)
  return found?.channels.some((one) => one === channel) ? found : null
}

const isInert = ({ params }: RequestContext): boolean => params['token'] === INERT_TOKEN

/**
 * Returns the channels that the link of a message ends. Webhooks have no opt-in of their own, and their receivers may
 * send on any channel.
 */
const ownChannels = ({ channel }: Subscriber): readonly Channel[] => (channel === 'webhook' ? CHANNELS : [channel])

/** Throws RequestError: not_found, rate_limited, unavailable. */
async function requireSubscriber(app: AppContext, context: RequestContext): Promise<Subscriber> {
  const subscriber = readToken(await loadMessageKey(app.sql), context.params['token'] ?? '')
  if (subscriber === null) {
    await chargeForgedLink(app, context)
    throw new RequestError('not_found')
  }
  context.businessId = subscriber.businessId
  await chargeLink(app, context, subscriber)
  await acquireSlot(app.slots.page, context, subscriber.businessId)
  return subscriber
}

async function requirePreferences(app: AppContext, subscriber: Subscriber): Promise<Preferences> {
  const preferences = await readPreferences(app.sql, subscriber)
  if (preferences === null) throw new RequestError('not_found')
  return preferences
}

function showPage(preferences: Preferences, subscriber: Subscriber, status: PageStatus | null): Response {
  const { contactId } = preferences
  if (contactId === null) return html(showSentence('erased', preferences))
  const page = showPreferences({
    preferences: { ...preferences, contactId },
    own: ownChannels(subscriber),
    topic: topicOf(subscriber, preferences),
    status,
  })
  return html(page, status === 'received' ? 202 : 200)
}

const html = (page: string, status = 200): Response => new Response(page, { status, headers: PAGE_HEADERS })

/** Answers errors with pages, too, since people read them. */
export const withPages =
  (answer: (app: AppContext, context: RequestContext) => Promise<Response>): Route['answer'] =>
  async (app, context) => {
    try {
      return await answer(app, context)
    } catch (error) {
      const { status, headers } = await errorResponse(app, context, error)
      const sentence = status === 404 ? 'notFound' : status === 429 ? 'tooMany' : 'failed'
      return new Response(showSentence(sentence), {
        status,
        headers: { ...Object.fromEntries(headers), ...lowerCased(PAGE_HEADERS) },
      })
    }
  }

const lowerCased = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const PATH = '/u/:token'

export const unsubscribeRoutes: readonly Route[] = [
  { method: 'GET', path: PATH, answer: withPages(getPage), operation: null },
  { method: 'POST', path: PATH, answer: withPages(postPage), operation: null },
]
