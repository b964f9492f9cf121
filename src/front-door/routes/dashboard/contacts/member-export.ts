/**
 * Exports the members of a segment with their addresses, page by page. The dashboard makes a CSV file of them. The
 * audit log records the person who exports.
 */
import { Type } from '@sinclair/typebox'
import { CAUSES } from '../../../../outbox/segment-change-row.ts'
import { exportMembers } from '../../../../segments/export-members.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { PAGE_QUERY, invalidCursor, readPage } from '../../../http/read-page.ts'
import { closed, dateTime, nextCursor, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { requireSegment } from '../../segments/read.ts'
import { MEMBER_ERRORS } from '../people/session.ts'

const EXPORTED = 'The members.'

async function getExport(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const page = readPage(context)
  const { businessId, segmentId } = await requireSegment(app, context, business.id)
  const exported = await exportMembers(app.sql, { businessId, actor }, { segmentId, ...page })
  if (exported === null) throw invalidCursor()
  return { message: EXPORTED, data: exported }
}

const texts = Type.Array(Type.String())
const ExportData = Type.Object(
  {
    members: Type.Array(
      Type.Object(
        {
          contactId: uuid,
          firstName: orNull(Type.String()),
          lastName: orNull(Type.String()),
          identities: Type.Object({ email: texts, phone: texts, platformCustomerId: texts }, closed),
          enteredAt: dateTime,
          cause: oneOf(CAUSES),
        },
        closed,
      ),
    ),
    nextCursor,
  },
  closed,
)

export const memberExportRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/segments/:segmentId/export',
    permission: 'contacts:export',
    handler: getExport,
    operation: {
      summary: 'Export the members of a segment with their addresses',
      description: 'Newest entry first. The first page is recorded in the audit log.',
      tag: 'Segments',
      key: 'session',
      query: PAGE_QUERY,
      replies: { 200: { message: EXPORTED, description: 'A page.', data: ExportData } },
      errors: [...MEMBER_ERRORS, 'not_found', 'invalid_request'],
    },
  }),
]
