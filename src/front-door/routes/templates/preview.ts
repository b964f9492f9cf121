/** Previews a template: the message as it would be sent. */
import type { Static } from '@sinclair/typebox'
import { readContact } from '../../../contacts/read/read-contact.ts'
import { inertLinks } from '../../../messages/public-links.ts'
import { UNKNOWN_CONTACT } from '../../../messages/templates/contact-values.ts'
import { loadContactValues } from '../../../messages/templates/load-contact-values.ts'
import type { StoredTemplate } from '../../../messages/templates/load-template.ts'
import { renderMessage } from '../../../messages/templates/render-message.ts'
import type { RenderedMessage } from '../../../messages/templates/template.ts'
import type { MessageContact } from '../../../messages/templates/values.ts'
import { smsSize } from '../../../rules/messages/sms-segments.ts'
import type { Principal } from '../../access/principal.ts'
import type { Business } from '../../../businesses/find-business.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { contactNotFound } from '../contacts/contact-not-found.ts'
import { requireTemplate } from './manage.ts'
import { PreviewTemplateSchema } from './schemas.ts'

export const PREVIEWED = 'The message as it would be sent.'

const check = compileCheck(PreviewTemplateSchema)

export async function postPreview(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const template = await requireTemplate(app, context, principal)
  const { body } = await receiveBody(app, context, principal.business, BODY_LIMITS.single)
  const message = await renderPreview(app, context, principal.business, template, requireBody(check(body)))
  const size = template.channel === 'sms' && { sms: smsSize(message.text ?? '') }
  return { message: PREVIEWED, data: { message, ...size } }
}

/** Throws RequestError: `not_found` for the contact, `invalid_request` when the template cannot be rendered. */
export async function renderPreview(
  app: AppContext,
  context: RequestContext,
  business: Business,
  template: StoredTemplate,
  { contactId, language, event, data }: Static<typeof PreviewTemplateSchema>,
): Promise<RenderedMessage> {
  const contact = contactId === undefined ? UNKNOWN_CONTACT : await loadContact(app, business, contactId)
  const rendering = await renderMessage(app.renderer.of(business.id), template, {
    values: {
      contact,
      event: event === undefined ? null : { properties: {}, ...event },
      ...(data !== undefined && { data }),
      ...inertLinks(app.config),
      business: { name: business.name, currency: business.currency },
    },
    language: language ?? contact.language,
    now: context.receivedAt,
  })
  if (rendering.kind === 'failed') throw invalidRequest([{ path: '', message: rendering.reason }])
  return rendering.message
}

async function loadContact(app: AppContext, { id, currency }: Business, contactId: string): Promise<MessageContact> {
  const read = readId(contactId)
  const contact = read === null ? null : await readContact(app.sql, { businessId: id, contactId: read, currency })
  if (contact === null) throw contactNotFound()
  return loadContactValues(app.sql, id, contact)
}
