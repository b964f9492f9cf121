/** The list of contacts, its filters, and the saved views of a business. */
import { type Static, Type } from '@sinclair/typebox'
import { type ContactFilter, type ListedContact, listContacts } from '../../../../contacts/read/list-contacts.ts'
import { createRememberedCount } from '../../../../contacts/read/remember-counts.ts'
import { listCustomFields } from '../../../../contacts/read/list-custom-fields.ts'
import {
  MAX_VIEWS,
  MAX_VIEW_NAME,
  type SaveOutcome,
  type SavedView,
  createView,
  deleteView,
  listViews,
  updateView,
} from '../../../../contacts/saved-views.ts'
import { RequestError } from '../../../../errors.ts'
import { FIELD_TYPES } from '../../../../rules/events/facts.ts'
import { trimText } from '../../../../rules/events/text.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { ReadCost } from '../../../access/concurrency-limit.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { type CheckResult, compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { PAGE_QUERY, invalidCursor, queryOf, readPage } from '../../../http/read-page.ts'
import { FILTER_QUERY, MAX_QUERY, MAX_TAG, readFilter, requireFilter } from '../../contacts/read-filter.ts'
import { ContactListData } from '../../contacts/reply-schemas.ts'
import { closed, count, oneOf, uuid } from '../../reply-fields.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from '../people/session.ts'

const LISTED = 'The contacts, newest first.'
const MAX_FIELD = 64
const MAX_ID = 36
const MAX_VALUE = 256

async function getContacts(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { id: businessId, currency } = principal.business
  const page = readPage(context)
  const filter = readOwnFilter(queryOf(context), principal)
  await requireFilter(app, businessId, filter)
  const listed = await listContacts(app.sql, { businessId, currency, filter, ...page })
  if (listed === null) throw invalidCursor()
  const contacts = principal.can('contacts:read') ? listed.contacts : listed.contacts.map(withoutPerson)
  return { message: LISTED, data: { ...listed, contacts } }
}

/** Without a filter, the newest contacts are read with an index. */
const costOf = (context: RequestContext): ReadCost =>
  ['query', 'tag', 'stage', 'field'].some((name) => (queryOf(context).get(name) ?? '') !== '') ? 'costly' : 'quick'

/** Removes what identifies or locates a person. */
const withoutPerson = (contact: ListedContact): ListedContact => ({
  ...contact,
  firstName: null,
  lastName: null,
  city: null,
  identities: { email: [], phone: [], platformCustomerId: [] },
})

const countRemembered = createRememberedCount()

async function getCount(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const filter = readOwnFilter(queryOf(context), principal)
  await requireFilter(app, principal.business.id, filter)
  return { message: 'How many there are.', data: await countRemembered(app.sql, principal.business.id, filter) }
}

/** A person who may not see addresses must not find them by a search either. */
function readOwnFilter(sent: URLSearchParams, { can }: Principal): ContactFilter {
  const field = readField(sent)
  const filter = { ...readFilter(sent), field }
  if ((filter.query !== null || field !== null) && !can('contacts:read')) throw new RequestError('not_permitted')
  return filter
}

function readField(sent: URLSearchParams): ContactFilter['field'] {
  const [key, value] = ['field', 'value'].map((name) => trimText(sent.get(name) ?? '')) as [string, string]
  if (key === '' && value === '') return null
  const issues = uncleanIssues({ field: key, value })
  if (key === '') issues.push(faultOf('field', 'field_with_value'))
  if (value === '') issues.push(faultOf('value', 'value_with_field'))
  if (key.length > MAX_FIELD) issues.push(faultOf('field', 'characters_up_to', { max: MAX_FIELD }))
  if (value.length > MAX_VALUE) issues.push(faultOf('value', 'characters_up_to', { max: MAX_VALUE }))
  if (issues.length > 0) throw invalidRequest(issues)
  return { key, value }
}

async function getFilters({ sql }: AppContext, _: RequestContext, { business, can }: Principal): Promise<Reply> {
  const [views, fields] = await Promise.all([listViews(sql, business.id), listCustomFields(sql, business.id)])
  // The text of a search may be an address.
  const usable = views.filter(({ filters: { query, field } }) => can('contacts:read') || (query ?? field) === undefined)
  return { message: 'The filters.', data: { views: usable, fields: fields.map(({ key, type }) => ({ key, type })) } }
}

const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }))
const ViewFilters = Type.Object(
  {
    query: text(MAX_QUERY),
    tag: text(MAX_TAG),
    stage: text(MAX_TAG),
    segment: text(MAX_ID),
    field: text(MAX_FIELD),
    value: text(MAX_VALUE),
  },
  closed,
)
const ViewSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: MAX_VIEW_NAME }),
  filters: ViewFilters,
})
const ViewChange = Type.Partial(ViewSchema, { minProperties: 1 })
const checkView = compileCheck(ViewSchema)
const checkViewChange = compileCheck(ViewChange)

async function readView<View extends Static<typeof ViewChange>>(
  app: AppContext,
  context: RequestContext,
  { principal, check }: { principal: Principal; check: (body: unknown) => CheckResult<View> },
): Promise<View> {
  const view = requireBody(check(await readJson(app, context, BODY_LIMITS.single)))
  const issues = view.name === undefined ? [] : uncleanIssues({ name: view.name })
  if (view.filters !== undefined && Object.keys(view.filters).length === 0) issues.push(faultOf('filters', 'a_filter'))
  if (issues.length > 0) throw invalidRequest(issues)
  if (view.filters !== undefined) readOwnFilter(new URLSearchParams(view.filters), principal)
  return view
}

async function postView(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const view = await readView(app, context, { principal, check: checkView })
  return saved(await createView(app.sql, { businessId: principal.business.id, actor: principal.actor }, view))
}

async function putView(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const id = requireViewId(context)
  const view = await readView(app, context, { principal, check: checkViewChange })
  return saved(
    await updateView(app.sql, { businessId: principal.business.id, actor: principal.actor }, { id, ...view }),
  )
}

async function removeView(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  if (!(await deleteView(app.sql, { businessId: business.id, actor }, requireViewId(context)))) throw viewNotFound()
  return { message: 'The view is deleted.', data: {} }
}

function saved(outcome: SavedView | SaveOutcome): Reply {
  if (outcome === 'not_found') throw viewNotFound()
  if (outcome === 'limit_reached')
    throw new RequestError('limit_reached', { reason: faultOf('', 'views_full', { max: MAX_VIEWS }) })
  if (outcome === 'name_taken') throw invalidRequest([faultOf('name', 'name_taken')])
  return { message: 'The view is saved.', data: { view: outcome } }
}

function requireViewId(context: RequestContext): string {
  const id = readId(context.params['viewId'])
  if (id === null) throw viewNotFound()
  return id
}

const viewNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_view') })

const View = Type.Object({ id: uuid, name: Type.String(), filters: ViewFilters }, closed)
const ViewData = Type.Object({ view: View }, closed)
const FiltersData = Type.Object(
  {
    views: Type.Array(View),
    fields: Type.Array(Type.Object({ key: Type.String(), type: oneOf(FIELD_TYPES) }, closed)),
  },
  closed,
)
const CountData = Type.Object(
  {
    count,
    kind: oneOf(['exact', 'estimate', 'at_least']),
  },
  closed,
)
const LIST_QUERY = {
  ...FILTER_QUERY,
  field: { schema: { type: 'string', maxLength: MAX_FIELD }, description: 'The key of a custom field; needs `value`.' },
  value: { schema: { type: 'string', maxLength: MAX_VALUE }, description: 'The whole value of the field, as text.' },
} as const
const tag = 'Contacts'
const key = 'session'
const viewReply = { 200: { message: 'The view is saved.', description: 'The view.', data: ViewData } }

export const contactListRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/contacts',
    permission: 'lists:read',
    cost: costOf,
    isCompressed: true,
    handler: getContacts,
    operation: {
      summary: 'List and search contacts',
      description:
        'Without `contacts:read`, names and addresses are left out, and neither `query` nor `field` is allowed. A page can be ' +
        'empty although there are more: go on until `nextCursor` is null.',
      tag,
      key,
      query: { ...LIST_QUERY, ...PAGE_QUERY },
      replies: { 200: { message: LISTED, description: 'A page.', data: ContactListData } },
      errors: [...MEMBER_ERRORS, 'invalid_request', 'not_found'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/contacts/count',
    permission: 'lists:read',
    cost: 'costly',
    handler: getCount,
    operation: {
      summary: 'Count contacts',
      description: 'Exact up to 10,000. A larger number is estimated; with a filter it is a lower bound.',
      tag,
      key,
      query: LIST_QUERY,
      replies: { 200: { message: 'How many there are.', description: 'The count.', data: CountData } },
      errors: [...MEMBER_ERRORS, 'invalid_request', 'not_found'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/contact-filters',
    permission: 'lists:read',
    handler: getFilters,
    operation: {
      summary: 'List the saved views and the custom fields that contacts can be filtered by',
      tag,
      key,
      replies: { 200: { message: 'The filters.', description: 'Views by name, fields by age.', data: FiltersData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/contact-views',
    permission: 'audience:write',
    handler: postView,
    operation: {
      summary: 'Save filters under a name',
      tag,
      key,
      body: { schema: ViewSchema },
      replies: viewReply,
      errors: [...MEMBER_BODY_ERRORS, 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'PUT',
    path: '/contact-views/:viewId',
    permission: 'audience:write',
    handler: putView,
    operation: {
      summary: 'Change a saved view',
      description: 'What is absent stays as it is.',
      tag,
      key,
      body: { schema: ViewChange },
      replies: viewReply,
      errors: [...MEMBER_BODY_ERRORS, 'not_found'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/contact-views/:viewId',
    permission: 'audience:write',
    handler: removeView,
    operation: {
      summary: 'Delete a saved view',
      tag,
      key,
      replies: { 200: { message: 'The view is deleted.', description: 'Done.', data: Type.Object({}, closed) } },
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
]
