import { Type } from '@sinclair/typebox'
import { closed, oneOf, dateTime } from './reply-fields.ts'
import { FIELD_TYPES } from '../../rules/events/facts.ts'
import { listCustomFields } from '../../contacts/read/list-custom-fields.ts'
import { type Principal, keyRead } from '../access/principal.ts'
import { type RequestContext, type AppContext, KEYED_ERRORS, type Reply, type Route } from '../app-context.ts'

const FIELDS = 'The custom fields.'

export async function getCustomFields({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: FIELDS, data: { customFields: await listCustomFields(sql, business.id) } }
}

export const CustomFieldsData = Type.Object(
  {
    customFields: Type.Array(
      Type.Object({ key: Type.String(), type: oneOf(FIELD_TYPES), createdAt: dateTime }, closed),
    ),
  },
  closed,
)

export const customFieldsRoute: Route = {
  method: 'GET',
  path: '/api/custom-fields',
  answer: keyRead(getCustomFields),
  operation: {
    summary: 'List the custom fields that traits have created',
    tag: 'Contacts',
    key: 'secret',
    replies: {
      200: {
        message: FIELDS,
        description: 'Oldest first; at most 500.',
        data: CustomFieldsData,
        example: { customFields: [{ key: 'plan', type: 'Text', createdAt: '2026-03-01T09:30:00.120Z' }] },
      },
    },
    errors: KEYED_ERRORS,
  },
}
