/** Reads the audit log of a business, and that of the installation. */
import { Type } from '@sinclair/typebox'
import { listAudit } from '../../../../audit/audit.ts'
import { type DashboardRoute, businessRoute, sessionRoute } from '../../../access/authenticate-session.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { PAGE_QUERY, invalidCursor, readPage } from '../../../http/read-page.ts'
import { closed, count, dateTime, nextCursor, oneOf, orNull } from '../../reply-fields.ts'
import { MEMBER_ERRORS, SESSION_ERRORS } from './session.ts'

const LISTED = 'The changes, newest first.'

async function list(app: AppContext, context: RequestContext, businessId: string | null): Promise<Reply> {
  const { limit, cursor } = readPage(context)
  if (cursor !== null && !/^[1-9]\d{0,14}$/.test(cursor)) throw invalidCursor()
  const rows = await listAudit(app.sql, { businessId, before: cursor === null ? null : Number(cursor), limit })
  const last = rows.length === limit ? rows.at(-1) : undefined
  return {
    message: LISTED,
    data: {
      entries: rows.map(({ at, ...entry }) => ({ ...entry, at: at.toISOString() })),
      nextCursor: last === undefined ? null : String(last.id),
    },
  }
}

const AuditData = Type.Object(
  {
    entries: Type.Array(
      Type.Object(
        {
          id: count,
          at: dateTime,
          actorKind: oneOf(['user', 'key', 'command']),
          actorName: Type.String({ description: 'The email of a person, the end of a key, or a command.' }),
          actorId: Type.String({
            description: "Of the person or the key; for a command, the operating system's user.",
          }),
          action: Type.String(),
          target: orNull(Type.String()),
          targetEmail: orNull(Type.String({ description: 'Of the changed person, as long as they are there.' })),
          details: Type.Record(Type.String(), Type.Unknown()),
          times: count,
        },
        closed,
      ),
    ),
    nextCursor,
  },
  closed,
)

const replies = { 200: { message: LISTED, description: 'A page of the log.', data: AuditData } }

export const auditRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/audit',
    permission: 'audit:read',
    handler: (app, context, { business }) => list(app, context, business.id),
    operation: {
      summary: 'Read the audit log',
      description: 'Every change to settings, people and contacts, and who made it. Kept for 400 days.',
      tag: 'Settings',
      key: 'session',
      query: PAGE_QUERY,
      replies,
      errors: [...MEMBER_ERRORS, 'invalid_request'],
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/dashboard/api/operations/audit',
    permission: 'operations',
    handler: (app, context) => list(app, context, null),
    operation: {
      summary: 'Read the audit log of the installation',
      tag: 'Settings',
      key: 'session',
      query: PAGE_QUERY,
      replies,
      errors: [...SESSION_ERRORS, 'not_permitted', 'invalid_request'],
    },
  }),
]
