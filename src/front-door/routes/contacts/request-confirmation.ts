/** Opt-ins that the person confirms: `"email": "pending"`, and the template of the mail that asks for it. */
import { Type } from '@sinclair/typebox'
import {
  type Asked,
  type ConfirmationResult,
  type ConfirmationMail,
  MAX_CONFIRMATIONS,
  askConfirmation,
} from '../../../messages/confirmations/ask-confirmation.ts'
import { readConsentSettings, saveConsentSettings } from '../../../messages/confirmations/setting.ts'
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
import { ONE_CLICKS } from '../../../rules/topics/topic.ts'
import { closed, oneOf, orNull, uuid } from '../reply-fields.ts'
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

const oneClick = oneOf(ONE_CLICKS, {
  description:
    'What one click in a mail program, and a form without a choice, end in a message of a topic: the topic, or the whole channel.',
})
const SettingSchema = Type.Object({
  confirmationTemplate: Type.Optional(
    orNull(Type.String({ description: 'The id of a template for email that has `confirmUrl`. Null: none.' })),
  ),
  oneClick: Type.Optional(oneClick),
})
const checkSetting = compileCheck(SettingSchema)
const SettingData = Type.Object({ confirmationTemplate: orNull(uuid), oneClick }, closed)
const example = { confirmationTemplate: '0198c5a0-9c3d-7a10-b7f2-8d4e6a1c9b35', oneClick: 'topic' } as const

async function getSetting({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: READ, data: await readConsentSettings(sql, business.id) }
}

/** Fields that are not sent stay as they are. */
async function putSetting(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { confirmationTemplate: sent = null, oneClick: wanted } = requireBody(checkSetting(body))
  const path = 'confirmationTemplate'
  const namesTemplate = isRecord(body) && Object.hasOwn(body, path)
  if (!namesTemplate && wanted === undefined) throw invalidRequest([faultOf(path, 'required')])
  const confirmationTemplate = sent === null ? null : readId(sent)
  if (sent !== null && confirmationTemplate === null) throw invalidRequest([faultOf(path, 'template_id')])
  const saved = await saveConsentSettings(
    app.sql,
    { businessId: business.id, actor },
    { ...(namesTemplate && { confirmationTemplate }), ...(wanted && { oneClick: wanted }) },
  )
  if ('fault' in saved) throw invalidRequest([saved.fault])
  return { message: SET, data: saved.settings }
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
      summary: 'Set how opt-ins are confirmed, and what one click ends',
      description: 'Changes only the fields that you send.',
      tag: 'Contacts',
      body: { schema: SettingSchema, example },
      replies: { 200: { message: SET, description: 'The setting.', data: SettingData, example } },
    },
    errors: [],
  },
]
