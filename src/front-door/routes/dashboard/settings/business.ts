/** The settings of a business, and new businesses. */
import { Type } from '@sinclair/typebox'
import { createOwnedBusiness } from '../../../../accounts/create-business.ts'
import type { Session } from '../../../../accounts/sessions.ts'
import { readEmail } from '../../../../accounts/users.ts'
import { BOTS, readBusiness } from '../../../../businesses/businesses.ts'
import { MAX_ORIGINS } from '../../../../businesses/settings.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { PAGE_IDENTIFY } from '../../../../rules/business-state.ts'
import { changeBusiness } from '../../../../segments/change-business.ts'
import { explainOrigin } from '../../../access/authenticate-browser.ts'
import { type DashboardRoute, businessRoute, sessionRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { closed, count, dateTime, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { InvitedData, deliverInvitation } from '../people/invite.ts'
import { type SentSettings, readSettings } from './read-settings.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS, SESSION_BODY_ERRORS } from '../people/session.ts'

const READ = 'The settings.'
const SAVED = 'The settings are saved.'
const CREATED = 'The business is created.'

async function getBusiness(app: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: READ, data: await describe(app, business.id) }
}

async function describe({ sql }: AppContext, id: string) {
  const found = await readBusiness(sql, id)
  if (found === null) throw new RequestError('business_not_found')
  return { ...found, createdAt: found.createdAt.toISOString() }
}

const text = (description: string) => Type.Optional(Type.String({ maxLength: 200, description }))
const LOCAL = {
  currency: text('Of amounts that are sent without one.'),
  country: text('Of phone numbers without a country code. Empty: none.'),
  timezone: text('An IANA zone.'),
}
const SettingsSchema = Type.Object({
  name: text('1 to 200 characters.'),
  ...LOCAL,
  rateLimit: Type.Optional(Type.Number({ description: 'Requests a minute. Only operators change it.' })),
  pageIdentify: text(PAGE_IDENTIFY.join(' or ')),
  bots: text(BOTS.join(' or ')),
  origins: Type.Optional(
    Type.Array(Type.String({ maxLength: 2000 }), { maxItems: MAX_ORIGINS, description: 'Empty: any origin may call.' }),
  ),
})
const checkSettings = compileCheck(SettingsSchema)

async function patchBusiness(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const sent: SentSettings = requireBody(checkSettings(await readJson(app, context, BODY_LIMITS.single)))
  const { business, actor, can } = principal
  const change = { businessId: business.id, actor }
  const { kind } = await changeBusiness(app.sql, change, readSettings(sent), { maySetRateLimit: can('operations') })
  if (kind === 'not_found') throw new RequestError('business_not_found')
  if (kind === 'rate_limit_fixed') throw invalidRequest([faultOf('rateLimit', 'operator_only')])
  return { message: SAVED, data: await describe(app, business.id) }
}

const OriginSchema = Type.Object({ origin: Type.String({ maxLength: 2000 }) })
const checkOrigin = compileCheck(OriginSchema)

/** Tests an origin with the rule for calls from pages, and with the current settings. */
async function postOriginTest(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { origin } = requireBody(checkOrigin(await readJson(app, context, BODY_LIMITS.single)))
  const { origins } = await describe(app, business.id)
  return { message: 'The origin is tested.', data: explainOrigin(origins, origin) }
}

const NewSchema = Type.Object({
  name: Type.String({ maxLength: 200 }),
  ...LOCAL,
  ownerEmail: Type.Optional(Type.String({ maxLength: 320, description: 'Invited as owner. Without it, you are.' })),
})
const checkNew = compileCheck(NewSchema)

async function postBusiness(app: AppContext, context: RequestContext, { user }: Session): Promise<Reply> {
  const { ownerEmail = user.email, ...sent } = requireBody(checkNew(await readJson(app, context, BODY_LIMITS.single)))
  const settings = { ...readSettings(sent), name: readSettings(sent).name ?? '' }
  const email = readEmail(ownerEmail)
  if (email === null) throw invalidRequest([faultOf('ownerEmail', 'email')])
  const actor = { kind: 'user', id: user.id, name: user.email } as const
  const invited = email === user.email ? null : { email, isMailed: app.mailer !== undefined }
  const created = await createOwnedBusiness(app.sql, actor, settings, invited)
  if (created.kind !== 'created') throw new RequestError(created.kind)
  const { businessId } = created
  const wanted = { business: { id: businessId, name: settings.name }, email, role: 'owner' as const, actor }
  const invitation = created.invitation && (await deliverInvitation(app, created.invitation, wanted))
  return { message: CREATED, data: { businessId, invitation } }
}

const BusinessData = Type.Object(
  {
    businessId: uuid,
    name: Type.String(),
    active: Type.Boolean(),
    rateLimit: count,
    currency: Type.String(),
    country: orNull(Type.String()),
    timezone: Type.String(),
    origins: Type.Array(Type.String()),
    pageIdentify: oneOf(PAGE_IDENTIFY),
    bots: oneOf(BOTS),
    createdAt: dateTime,
  },
  closed,
)
const OriginData = Type.Object(
  {
    isAccepted: Type.Boolean(),
    reason: oneOf(['any_origin', 'listed', 'not_listed', 'not_an_origin']),
    origin: orNull(Type.String({ description: 'As browsers send it.' })),
    similar: orNull(Type.String({ description: 'An origin of the list with the same host name, or nearly.' })),
  },
  closed,
)

const common = { tag: 'Settings', key: 'session' } as const

export const businessRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/business',
    permission: 'lists:read',
    handler: getBusiness,
    operation: {
      ...common,
      summary: 'Read the settings of the business',
      replies: { 200: { message: READ, description: 'All settings.', data: BusinessData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'PATCH',
    path: '/business',
    permission: 'business:write',
    handler: patchBusiness,
    operation: {
      ...common,
      summary: 'Change settings of the business',
      description: 'Changes only what you send, within a second.',
      body: { schema: SettingsSchema },
      replies: { 200: { message: SAVED, description: 'All settings.', data: BusinessData } },
      errors: MEMBER_BODY_ERRORS,
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/origins/test',
    permission: 'business:write',
    handler: postOriginTest,
    operation: {
      ...common,
      summary: 'Test whether pages of an origin may call',
      body: { schema: OriginSchema },
      replies: { 200: { message: 'The origin is tested.', description: 'The outcome, and why.', data: OriginData } },
      errors: MEMBER_BODY_ERRORS,
    },
  }),
  sessionRoute({
    method: 'POST',
    path: '/dashboard/api/operations/businesses',
    permission: 'operations',
    handler: postBusiness,
    operation: {
      ...common,
      summary: 'Create a business',
      body: { schema: NewSchema },
      replies: {
        200: {
          message: CREATED,
          description: 'Its id, and how the owner is invited.',
          data: Type.Object({ businessId: uuid, invitation: orNull(InvitedData) }, closed),
        },
      },
      errors: [...SESSION_BODY_ERRORS, 'not_permitted'],
    },
  }),
]
