/**
 * Exports one person as JSON, with all stored data about them. The answer is sent while it is read, so only one page is
 * in memory.
 */
import { TextEncoder } from 'node:util'
import { exportContact } from '../../../../contacts/export-contact.ts'
import { listIdentifications } from '../../../../contacts/read/list-identifications.ts'
import { readTimeline } from '../../../../timeline/reading/read-timeline.ts'
import { readVisits } from '../../../../timeline/reading/read-visits.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, RequestContext } from '../../../app-context.ts'
import { contactNotFound } from '../../contacts/contact-not-found.ts'
import { requireContact } from '../../contacts/read.ts'

const PAGE_SIZE = 500

export async function sendExport(app: AppContext, context: RequestContext, principal: Principal): Promise<Response> {
  const { business, actor } = principal
  const { id: businessId, currency } = business
  const { contactId, contactIds } = await requireContact(app, context, businessId)
  const person = await exportContact(app.sql, { businessId, actor }, { contactId, contactIds, currency })
  if (person === null) throw contactNotFound()
  const scope = { businessId, contactIds, limit: PAGE_SIZE }
  const lists = {
    identifications: pagesOf(async (cursor) => {
      const page = await listIdentifications(app.sql, { ...scope, cursor })
      return page && { rows: page.identifications, nextCursor: page.nextCursor }
    }),
    timeline: pagesOf(async (cursor) => {
      const page = await readTimeline(app, { ...scope, cursor })
      return typeof page === 'string' ? null : { rows: page.events, nextCursor: page.nextCursor }
    }),
    visits: pagesOf(async (cursor) => {
      const page = await readVisits(app, { ...scope, visitorIds: person.visitorIds, cursor })
      return typeof page === 'string' ? null : { rows: page.visits, nextCursor: page.nextCursor }
    }),
  }
  return new Response(streamOf(writeJson(person, lists)), {
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="contact-${contactId}.json"`,
      'Cache-Control': 'no-store',
    },
  })
}

type Rows = AsyncGenerator<readonly object[]>

/**
 * Yields the pages of a list. `read` returns null when the store did not answer: the file then ends in the middle, and
 * the download fails.
 */
async function* pagesOf(
  read: (cursor: string | null) => Promise<{ rows: readonly object[]; nextCursor: string | null } | null>,
): Rows {
  let cursor: string | null = null
  do {
    const page = await read(cursor)
    if (page === null) throw new Error('A store did not answer during the export.')
    yield page.rows
    cursor = page.nextCursor
  } while (cursor !== null)
}

async function* writeJson(contact: object, lists: Record<string, Rows>): AsyncGenerator<string> {
  yield `{"contact":${JSON.stringify(contact)}`
  for (const [name, pages] of Object.entries(lists)) {
    yield `,"${name}":[`
    let isFirst = true
    for await (const rows of pages) {
      if (rows.length > 0) yield `${isFirst ? '' : ','}${rows.map((row) => JSON.stringify(row)).join(',')}`
      isFirst &&= rows.length === 0
    }
    yield ']'
  }
  yield '}\n'
}

function streamOf(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const next = await texts.next()
      if (next.done === true) controller.close()
      else controller.enqueue(encoder.encode(next.value))
    },
    async cancel() {
      await texts.return(undefined)
    },
  })
}
