/** Demo data for a business without contacts. */
import { Type } from '@sinclair/typebox'
import { demoRefusal } from '../../../../demo/demo-business.ts'
import { DEMO_CONTACTS, loadDemo } from '../../../../demo/load-demo.ts'
import { RequestError } from '../../../../errors.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { closed, count } from '../../reply-fields.ts'
import { MEMBER_ERRORS } from '../people/session.ts'

const LOADED = 'The demo data is loaded.'

async function postDemo(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const refusal = await demoRefusal(app.sql, { businessId: business.id, active: business.active })
  if (refusal !== null) throw new RequestError(refusal)
  const { default: contacts } = DEMO_CONTACTS
  const { signal } = context.request
  const options = { businessId: business.id, actor, count: contacts, now: context.receivedAt, signal }
  const loaded = await loadDemo({ ...app, submit: app.submitter.submit }, options)
  return { message: LOADED, data: { contacts: loaded.contacts, events: loaded.events } }
}

export const demoRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'POST',
    path: '/demo',
    permission: 'business:write',
    handler: postDemo,
    operation: {
      tag: 'Settings',
      key: 'session',
      summary: 'Load demo data into a business without contacts',
      description: `Adds ${DEMO_CONTACTS.default} people, their events and what was spent on advertising in the last 60 days, three segments, two templates, a draft of a campaign and a published one, which begins to send at once by the channel \`log\`. Calling again completes an interrupted load.`,
      replies: {
        200: {
          message: LOADED,
          description: 'What was loaded.',
          data: Type.Object({ contacts: count, events: count }, closed),
        },
      },
      errors: [...MEMBER_ERRORS, 'business_inactive', 'business_not_empty'],
    },
  }),
]
