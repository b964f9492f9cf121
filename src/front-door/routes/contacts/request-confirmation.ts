/** Opt-ins that the person confirms: `"email": "pending"`, and the template of the mail that asks for it. */
import { Type } from '@sinclair/typebox'
import {
  type Asked,
  type ConfirmationResult,
  type ConfirmationMail,
  MAX_CONFIRMATIONS,
  askConfirmation,
} from '../../../messages/confirmations/ask-confirmation.ts'
import { readConfirmationTemplate, setConfirmationTemplate } from '../../../messages/confirmations/setting.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { receiveBody } from '../../http/receive-body.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { withSealErrors } from '../channels/manage.ts'
import { closed, orNull, uuid } from '../reply-fields.ts'
import { contactNotFound } from './contact-not-found.ts'

export const CONFIRMATION_REQUESTED = 'The contact is asked to confirm.'
const READ = 'How opt-ins are confirmed.'
const SET = 'The setting is stored.'

export async function requestConfirmation(
  app: AppContext,
  context: RequestContext,
  { business, actor }: Principal,
  wanted: Asked,
): Promise<
  Pick<Extract<ConfirmationResult, { kind: 'asked' }>, 'contactId' | 'subscriptions'> & {
    confirmation: ConfirmationMail
  }
> {
  await acquireSlot(app.slots.test, context, business.id)
  const requested = await withSealErrors(() => askConfirmation(app, { business, actor }, wanted))
  switch (requested.kind) {
    case 'contact_not_found':
      throw contactNotFound()
    case 'no_template':
      throw invalidRequest([faultOf('email', 'pending_template')])
    case 'no_address':
      throw invalidRequest([faultOf('email', 'pending_address')])
    case 'too_many':
      throw new RequestError('limit_reached', {
        reason: faultOf('', 'confirmations_a_day', { max: MAX_CONFIRMATIONS }),
      })
    case 'asked':
      return { contactId: requested.contactId, subscriptions: requested.subscriptions, confirmation: requested.mail }
  }
}

const SettingSchema = Type.Object({
  confirmationTemplate: Type.Optional(
    orNull(Type.String({ description: 'The id of a template for email that has `confirmUrl`. Null: none.' })),
  ),
})
const checkSetting = compileCheck(SettingSchema)
const SettingData = Type.Object({ confirmationTemplate: orNull(uuid) }, closed)
const example = { confirmationTemplate: '0198c5a0-9c3d-7a10-b7f2-8d4e6a1c9b35' }

async function getSetting({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: READ, data: { confirmationTemplate: await readConfirmationTemplate(sql, business.id) } }
}

async function putSetting(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { confirmationTemplate: sent = null } = requireBody(checkSetting(body))
  const templateId = sent === null ? null : readId(sent)
  const path = 'confirmationTemplate'
  if (!isRecord(body) || !Object.hasOwn(body, path)) throw invalidRequest([faultOf(path, 'required')])
  if (sent !== null && templateId === null) throw invalidRequest([faultOf(path, 'template_id')])
  const fault = await setConfirmationTemplate(app.sql, { businessId: business.id, actor }, templateId)
  if (fault !== undefined) throw invalidRequest([fault])
  return { message: SET, data: { confirmationTemplate: templateId } }
}

export const confirmationEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: '/subscriptions/settings',
    permission: 'lists:read',
    handler: getSetting,
    operation: {
      summary: 'Read how opt-ins are confirmed',
      tag: 'Contacts',
      replies: { 200: { message: READ, description: 'The setting.', data: SettingData, example } },
    },
    errors: [],
  },
  {
    method: 'PUT',
    path: '/subscriptions/settings',
    permission: 'audience:write',
    handler: putSetting,
    operation: {
      summary: 'Set the template that asks for the confirmation of an opt-in',
      tag: 'Contacts',
      body: { schema: SettingSchema, example },
      replies: { 200: { message: SET, description: 'The setting.', data: SettingData, example } },
    },
    errors: [],
  },
]
