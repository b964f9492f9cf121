/** `/confirm/{token}`: a person confirms an opt-in. Reading the page changes nothing. */
import { RequestError } from '../../../errors.ts'
import { type Confirmation, hashEmail, readConfirmation } from '../../../messages/confirmations/token.ts'
import { loadMessageKey } from '../../../messages/message-key.ts'
import { type Preferences, readPreferences } from '../../../messages/unsubscribe/read-preferences.ts'
import { chargeForgedLink, chargeLink } from '../../access/charge.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { AppContext, RequestContext, Route } from '../../app-context.ts'
import { BODY_LIMITS, readForm } from '../../http/read-body.ts'
import { submitRequest } from '../submit-request.ts'
import { PAGE_HEADERS, showConfirmation, showSentence } from './page.ts'
import { withPages } from './routes.ts'

/** How the choice was made, in the history of consent. */
export const CONFIRMED_METHOD = 'Sluice double opt-in'
/** A link is of no use after this. */
export const CONFIRM_MS = 30 * 86_400_000

interface Asked {
  confirmation: Confirmation
  preferences: Preferences & { contactId: string }
  /** That the mail went to; null when the contact does not have it any more. */
  address: string | null
}

async function getPage(app: AppContext, context: RequestContext): Promise<Response> {
  const asked = await requireAsked(app, context)
  if (asked === null) return html(showSentence('erased'))
  return html(showConfirmation(asked.preferences, stateOf(asked, app.now())))
}

async function postPage(app: AppContext, context: RequestContext): Promise<Response> {
  const asked = await requireAsked(app, context)
  await readForm(app, context, BODY_LIMITS.form)
  if (asked === null) return html(showSentence('erased'))
  const { preferences, address } = asked
  const state = stateOf(asked, app.now())
  if (state !== 'confirm' || address === null) return html(showConfirmation(preferences, state))
  // A worker would set it aside.
  if (!preferences.business.active) throw new RequestError('unavailable')
  const { receivedAt, requestId } = context
  const { contactId, choices } = preferences
  const replaces = choices.email && { replaces: { email: choices.email.at } }
  const base = {
    kind: 'subscribe',
    businessId: asked.confirmation.businessId,
    receivedAt,
    requestId,
    contactId,
  } as const
  const request = { ...base, channels: { email: true }, method: CONFIRMED_METHOD, proves: address, ...replaces }
  const answer = await submitRequest(app, context, request, { keyed: false })
  if (answer === null) return html(showConfirmation(preferences, 'received'), 202)
  return html(showConfirmation(preferences, answer.subscriptions?.email ? 'didConfirm' : 'didNotConfirm'))
}

/** An opt-out that came after the mail was asked for stands. */
function stateOf(
  { confirmation, preferences, address }: Asked,
  now: number,
): 'confirm' | 'didConfirm' | 'didNotConfirm' {
  const { email } = preferences.choices
  if (email?.subscribed) return 'didConfirm'
  const isLate = now > confirmation.askedAt + CONFIRM_MS || (email !== undefined && email.at >= confirmation.askedAt)
  return isLate || address === null ? 'didNotConfirm' : 'confirm'
}

/** Null: the person was erased. Throws RequestError: not_found, rate_limited, unavailable. */
async function requireAsked(app: AppContext, context: RequestContext): Promise<Asked | null> {
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
  return { confirmation, preferences: { ...preferences, contactId }, address }
}

const html = (page: string, status = 200): Response => new Response(page, { status, headers: PAGE_HEADERS })

const PATH = '/confirm/:token'

export const confirmRoutes: readonly Route[] = [
  { method: 'GET', path: PATH, answer: withPages(getPage), operation: null },
  { method: 'POST', path: PATH, answer: withPages(postPage), operation: null },
]
