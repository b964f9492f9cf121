/** `/confirm/{token}`: a person confirms an opt-in. Reading the page changes nothing. */
import { RequestError } from '../../../errors.ts'
import { type Confirmation, hashEmail, hashTopic, readConfirmation } from '../../../messages/confirmations/token.ts'
import { loadMessageKey } from '../../../messages/message-key.ts'
import { type Preferences, readPreferences } from '../../../messages/unsubscribe/read-preferences.ts'
import { chargeForgedLink, chargeLink } from '../../access/charge.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { AppContext, RequestContext, Route } from '../../app-context.ts'
import { BODY_LIMITS, readForm } from '../../http/read-body.ts'
import { submitRequest } from '../submit-request.ts'
import { PAGE_HEADERS, showConfirmation, showSentence } from './page.ts'
import { withPages } from './routes.ts'

/** Method of the choice in the history of consent. */
export const CONFIRMED_METHOD = 'Sluice double opt-in'
/** Milliseconds for which a link is valid. */
export const CONFIRM_MS = 30 * 86_400_000

interface PendingConfirmation {
  confirmation: Confirmation
  preferences: Preferences & { contactId: string }
  /** Address that the mail was sent to; null when the contact no longer has it. */
  address: string | null
  /** The topics of the link that still exist, with the latest choice. */
  topics: { key: string; choice: { subscribed: boolean; at: number } | null }[]
}

async function getPage(app: AppContext, context: RequestContext): Promise<Response> {
  const pending = await requirePending(app, context)
  if (pending === null) return html(showSentence('erased'))
  return html(showConfirmation(pending.preferences, stateOf(pending, app.now())))
}

async function postPage(app: AppContext, context: RequestContext): Promise<Response> {
  const pending = await requirePending(app, context)
  await readForm(app, context, BODY_LIMITS.form)
  if (pending === null) return html(showSentence('erased'))
  const { preferences, address } = pending
  const state = stateOf(pending, app.now())
  if (state !== 'confirm' || address === null) return html(showConfirmation(preferences, state))
  // A worker would make it a dead letter.
  if (!preferences.business.active) throw new RequestError('unavailable')
  const { receivedAt, requestId } = context
  const { contactId, choices } = preferences
  const replaces = choices.email && { replaces: { email: choices.email.at } }
  const base = {
    kind: 'subscribe',
    businessId: pending.confirmation.businessId,
    receivedAt,
    requestId,
    contactId,
  } as const
  const { askedAt } = pending.confirmation
  const topics = pending.topics.map(({ key }) => ({ topic: key, channel: 'email' as const, subscribed: true }))
  const chosen = { channels: { email: true }, topics, topicsAskedAt: askedAt }
  const request = { ...base, ...chosen, method: CONFIRMED_METHOD, proves: address, ...replaces }
  const answer = await submitRequest(app, context, request, { keyed: false })
  if (answer === null) return html(showConfirmation(preferences, 'received'), 202)
  return html(showConfirmation(preferences, answer.subscriptions?.email ? 'didConfirm' : 'didNotConfirm'))
}

/** An opt-out that was made after the mail was requested is kept. */
function stateOf(
  { confirmation, preferences, address, topics }: PendingConfirmation,
  now: number,
): 'confirm' | 'didConfirm' | 'didNotConfirm' {
  const { email } = preferences.choices
  const { askedAt } = confirmation
  const isAnswered = topics.every(({ choice }) => choice !== null && (choice.subscribed || choice.at >= askedAt))
  if (email?.subscribed && isAnswered)
    return topics.every(({ choice }) => choice?.subscribed) ? 'didConfirm' : 'didNotConfirm'
  const isLeft = email !== undefined && !email.subscribed && email.at >= askedAt
  return now > askedAt + CONFIRM_MS || isLeft || address === null ? 'didNotConfirm' : 'confirm'
}

/** Returns null when the person was erased. Throws RequestError: not_found, rate_limited, unavailable. */
async function requirePending(app: AppContext, context: RequestContext): Promise<PendingConfirmation | null> {
  const key = await loadMessageKey(app.sql)
  const confirmation = readConfirmation(key, context.params['token'] ?? '')
  if (confirmation === null) {
    await chargeForgedLink(app, context)
    throw new RequestError('not_found')
  }
  const { businessId, addressHash } = confirmation
  context.businessId = businessId
  await chargeLink(app, context, confirmation)
  await acquireSlot(app.slots.page, context, businessId)
  const preferences = await readPreferences(app.sql, confirmation)
  if (preferences === null) throw new RequestError('not_found')
  const { contactId } = preferences
  if (contactId === null) return null
  const emails = await app.sql<{ value: string }[]>`
    select value from identities where business_id = ${businessId} and contact_id = ${contactId} and kind = 'email'`
  const address = emails.find(({ value }) => hashEmail(key, businessId, value) === addressHash)?.value ?? null
  const topics = await readAsked(app, { businessId, contactId, hashes: confirmation.topics })
  return { confirmation, preferences: { ...preferences, contactId }, address, topics }
}

async function readAsked(
  { sql }: AppContext,
  { businessId, contactId, hashes }: { businessId: string; contactId: string; hashes: readonly string[] },
): Promise<PendingConfirmation['topics']> {
  if (hashes.length === 0) return []
  const topics = await sql<PendingConfirmation['topics']>`
    select t.key, case when o.topic is not null then json_build_object('subscribed', o.subscribed, 'at', o.recorded_at) end as choice
    from topics t left join topic_choices o on o.business_id = t.business_id and o.contact_id = ${contactId}
      and o.topic = t.key and o.channel = 'email'
    where t.business_id = ${businessId}
    order by t.position, t.key`
  return topics.filter(({ key }) => hashes.includes(hashTopic(key)))
}

const html = (page: string, status = 200): Response => new Response(page, { status, headers: PAGE_HEADERS })

const PATH = '/confirm/:token'

export const confirmRoutes: readonly Route[] = [
  { method: 'GET', path: PATH, answer: withPages(getPage), operation: null },
  { method: 'POST', path: PATH, answer: withPages(postPage), operation: null },
]
