import { listCustomFields } from '../../contacts/list-custom-fields.ts'
import { admitReader } from '../access/authenticate-read.ts'
import { type Call, type Door, KEYED_ERRORS, type Reply, type Route } from '../app-context.ts'
import { CustomFieldsData } from './reply-schemas.ts'

const FIELDS = 'The custom fields.'

async function getCustomFields(door: Door, call: Call): Promise<Reply> {
  const { id: businessId } = await admitReader(door, call)
  return { message: FIELDS, data: { customFields: await listCustomFields(door.sql, businessId) } }
}

export const customFieldsRoute: Route = {
  method: 'GET',
  path: '/api/custom-fields',
  answer: getCustomFields,
  operation: {
    summary: 'List the custom fields that traits have made',
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
