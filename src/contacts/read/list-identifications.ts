import type { Sql } from '../../stores/postgres.ts'

/** One identify call. Every call is kept (decisions, "Traits"). */
export interface Identification {
  /** ISO 8601 UTC. */
  identifiedAt: string
  method: string | null
  /** Whether it was sent with a secret key. */
  keyed: boolean
  visitorId: string | null
}

export interface IdentificationPage {
  identifications: Identification[]
  /** Null on the last page. */
  nextCursor: string | null
}

interface Row {
  id: string
  identifiedAt: number
  method: string | null
  keyed: boolean
  visitorId: string | null
}

/** Lists the identify calls, newest first. Resolves with null when the cursor does not belong to this list. */
export async function listIdentifications(
  sql: Sql,
  page: { businessId: string; contactIds: string[]; limit: number; cursor: string | null },
): Promise<IdentificationPage | null> {
  const after = page.cursor === null ? NEWEST : readCursor(page.cursor)
  if (after === null) return null
  const rows = await sql<Row[]>`
    select id, identified_at as "identifiedAt", method, keyed, visitor_id as "visitorId"
    from identifications
    where business_id = ${page.businessId} and contact_id = any(${`{${page.contactIds.join(',')}}`}::uuid[])
      and (identified_at, id) < (${after.identifiedAt}, ${after.id}::uuid)
    order by identified_at desc, id desc
    limit ${page.limit + 1}`
  const shown = rows.slice(0, page.limit)
  const last = rows.length > page.limit ? shown.at(-1) : undefined
  return { identifications: shown.map(toIdentification), nextCursor: last === undefined ? null : writeCursor(last) }
}

function toIdentification({ identifiedAt, method, keyed, visitorId }: Row): Identification {
  return { identifiedAt: new Date(identifiedAt).toISOString(), method, keyed, visitorId }
}

const NEWEST = { identifiedAt: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }
const CURSOR = /^(\d{1,15})_([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/

const writeCursor = ({ identifiedAt, id }: Row): string => `${identifiedAt}_${id}`

function readCursor(cursor: string): typeof NEWEST | null {
  const [, identifiedAt, id] = CURSOR.exec(cursor) ?? []
  return identifiedAt === undefined || id === undefined ? null : { identifiedAt: Number(identifiedAt), id }
}
