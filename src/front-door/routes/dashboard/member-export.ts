/**
 * Exports the members of a segment with their addresses, page by page. The dashboard makes a CSV file of them. The
 * audit log records the person who exports.
 */
import { Type } from '@sinclair/typebox'
import { recordContactAudit } from '../../../audit/audit.ts'
import { type NamedContact, listNames } from '../../../contacts/list-names.ts'
import { CAUSES } from '../../../outbox/segment-change-row.ts'
import { type MemberPage, readMembers } from '../../../segments/read-members.ts'
import { type DashboardRoute, businessRoute } from '../../access/authenticate-session.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { PAGE_QUERY, invalidCursor, readPage } from '../../http/read-page.ts'
import { closed, dateTime, nextCursor, oneOf, orNull, uuid } from '../reply-fields.ts'
import { requireSegment } from '../segments/read.ts'
import { MEMBER_ERRORS } from './session.ts'

const EXPORTED = 'The members.'

async function getExport(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const page = readPage(context)
  const segment = await requireSegment(app, context, business.id)
  const listed = await readMembers(app.sql, { ...segment, ...page })
  if (listed === null) throw invalidCursor()
  // An export consists of one request per page, but has one entry in the log.
  if (page.cursor === null) {
    const { businessId, segmentId: target } = segment
    await recordContactAudit(app.sql, { businessId, actor, action: 'segment.export', target })
  }
  const ids = listed.members.flatMap(({ contactId }) => contactId ?? [])
  return { message: EXPORTED, data: withNames(listed, await listNames(app.sql, business.id, ids)) }
}

/** Leaves out members who left or were erased in the meantime. */
function withNames({ members, nextCursor }: MemberPage, contacts: NamedContact[]): Record<string, unknown> {
  const contactOf = new Map(contacts.map((contact) => [contact.contactId, contact]))
  const rows = members.flatMap(({ contactId, ...entry }) => {
    const contact = contactOf.get(contactId ?? '')
    return contact === undefined ? [] : [{ ...contact, ...entry }]
  })
  return { members: rows, nextCursor }
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
