/** Returns the names of contacts that other lists show only by id. */
import { Type } from '@sinclair/typebox'
import { listNames } from '../../../../contacts/read/list-names.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { closed, orNull, uuid } from '../../reply-fields.ts'
import { MEMBER_BODY_ERRORS } from '../people/session.ts'

/** The size of the largest page of members. */
const MAX_IDS = 500
const NAMED = 'The names.'

const NamesSchema = Type.Object({ contactIds: Type.Array(Type.String(), { maxItems: MAX_IDS }) })
const checkNames = compileCheck(NamesSchema)

async function postNames(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { contactIds } = requireBody(checkNames(await readJson(app, context, BODY_LIMITS.single)))
  const ids = contactIds.map(readId).filter((id) => id !== null)
  return { message: NAMED, data: { contacts: await listNames(app.sql, business.id, ids) } }
}

const texts = Type.Array(Type.String())
const NamesData = Type.Object(
  {
    contacts: Type.Array(
      Type.Object(
        {
          contactId: uuid,
          firstName: orNull(Type.String()),
          lastName: orNull(Type.String()),
          identities: Type.Object({ email: texts, phone: texts, platformCustomerId: texts }, closed),
        },
        closed,
      ),
    ),
  },
  closed,
)

export const contactNameRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'POST',
    path: '/contacts/names',
    permission: 'contacts:read',
    handler: postNames,
    operation: {
      summary: 'Name contacts by their ids',
      description: 'In any order. Contacts that are not there any more are left out, merged ones too.',
      tag: 'Contacts',
      key: 'session',
      body: { schema: NamesSchema },
      replies: { 200: { message: NAMED, description: 'The names.', data: NamesData } },
      errors: MEMBER_BODY_ERRORS,
    },
  }),
]
