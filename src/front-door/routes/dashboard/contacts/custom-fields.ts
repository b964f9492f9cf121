/** Custom fields: how they are used, which values they hold, and how people describe them. */
import { type Static, Type } from '@sinclair/typebox'
import { createTtlCache } from '../../../../async/ttl-cache.ts'
import { describeField, findFieldType, listDescribedFields } from '../../../../contacts/read/list-custom-fields.ts'
import { RequestError } from '../../../../errors.ts'
import { FIELD_TYPES } from '../../../../rules/events/facts.ts'
import { faultOf } from '../../../../rules/faults.ts'
import {
  type FieldUse,
  type FieldValues,
  readFieldUse,
  readFieldValues,
} from '../../../../timeline/reading/read-field-statistics.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { queryOf } from '../../../http/read-page.ts'
import { text } from '../../body-fields.ts'
import { closed, count, dateTime, oneOf, orNull } from '../../reply-fields.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from '../people/session.ts'

const MAX_DESCRIPTION = 500
/** Cached, since a person who clicks through the fields reads them again within this time. */
const KEPT = { ms: 30_000, max: 500 }
const uses = createTtlCache<FieldUse | null>(KEPT)
const values = createTtlCache<FieldValues | null>(KEPT)

const FIELDS = 'The custom fields.'
const VALUES = 'What the field holds.'
const CHANGED = 'The field is changed.'

const sampled = {
  contacts: count,
  isSampled: Type.Boolean({ description: 'The counts are those of about 100,000 contacts, not of all.' }),
}

const FieldsData = Type.Object(
  {
    customFields: Type.Array(
      Type.Object(
        {
          key: Type.String(),
          type: oneOf(FIELD_TYPES),
          createdAt: dateTime,
          description: Type.String(),
          isHidden: Type.Boolean(),
          filled: orNull(count),
        },
        closed,
      ),
    ),
    use: orNull(Type.Object(sampled, { ...closed, description: 'Null when the statistics did not come in time.' })),
  },
  closed,
)

async function getFields(app: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  const [fields, use] = await Promise.all([
    listDescribedFields(app.sql, business.id),
    uses(business.id, () => readFieldUse(app.clickhouse, business.id)),
  ])
  const data: Static<typeof FieldsData> = {
    customFields: fields.map((field) => ({ ...field, filled: use === null ? null : (use.filled.get(field.key) ?? 0) })),
    use: use && { contacts: use.contacts, isSampled: use.isSampled },
  }
  return { message: FIELDS, data }
}

const ValuesData = Type.Object(
  {
    ...sampled,
    filled: count,
    distinct: count,
    top: Type.Array(Type.Object({ value: Type.String(), count }, closed)),
    quantiles: orNull(Type.Array(Type.Number())),
    range: orNull(Type.Object({ from: dateTime, to: dateTime }, closed)),
  },
  closed,
)

async function getValues(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const key = queryOf(context).get('key') ?? ''
  if (key === '') throw invalidRequest([faultOf('key', 'required')])
  const type = uncleanIssues({ key }).length > 0 ? null : await findFieldType(app.sql, business.id, key)
  if (type === null) throw fieldNotFound()
  const field = { businessId: business.id, key, type }
  const data = await values(`${business.id} ${key}`, () => readFieldValues(app.clickhouse, field))
  if (data === null) throw new RequestError('unavailable', { headers: { 'Retry-After': '5' } })
  return { message: VALUES, data }
}

const ChangeSchema = Type.Object({
  key: Type.String({ minLength: 1 }),
  description: Type.Optional(text(0, MAX_DESCRIPTION, 'What the field is for.')),
  isHidden: Type.Optional(Type.Boolean({ description: 'Leave it out where fields are picked. Its data stays.' })),
})
const checkChange = compileCheck(ChangeSchema)

async function patchField(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const { key, description, isHidden } = requireBody(checkChange(await readJson(app, context, BODY_LIMITS.single)))
  const unclean = uncleanIssues({ key, description: description ?? '' })
  if (unclean.length > 0) throw invalidRequest(unclean)
  const change = { ...(description !== undefined && { description }), ...(isHidden !== undefined && { isHidden }) }
  if (Object.keys(change).length === 0)
    throw invalidRequest([faultOf('', 'at_least_one', { fields: 'description, isHidden' })])
  if (!(await describeField(app.sql, { businessId: business.id, actor }, key, change))) throw fieldNotFound()
  return { message: CHANGED, data: {} }
}

const fieldNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_custom_field') })

export const customFieldRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/custom-fields',
    permission: 'lists:read',
    cost: 'costly',
    isCompressed: true,
    handler: getFields,
    operation: {
      summary: 'List the custom fields and how many contacts have them',
      tag: 'Contacts',
      key: 'session',
      replies: { 200: { message: FIELDS, description: 'Oldest first; at most 500.', data: FieldsData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/custom-fields/values',
    permission: 'contacts:read',
    cost: 'costly',
    handler: getValues,
    operation: {
      summary: 'Read the most frequent values of a custom field and their spread',
      tag: 'Contacts',
      key: 'session',
      query: { key: { schema: { type: 'string' }, description: 'The field.' } },
      replies: { 200: { message: VALUES, description: 'The ten most frequent values.', data: ValuesData } },
      errors: [...MEMBER_ERRORS, 'invalid_request', 'not_found'],
    },
  }),
  businessRoute({
    method: 'PATCH',
    path: '/custom-fields',
    permission: 'audience:write',
    handler: patchField,
    operation: {
      summary: 'Describe or hide a custom field',
      tag: 'Contacts',
      key: 'session',
      body: { schema: ChangeSchema },
      replies: { 200: { message: CHANGED, description: 'Done.', data: Type.Object({}, closed) } },
      errors: [...MEMBER_BODY_ERRORS, 'not_found'],
    },
  }),
]
