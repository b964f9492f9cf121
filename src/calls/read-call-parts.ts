import type { Queryable } from '../stores/postgres.ts'

/** What only the message of a call has. */
export interface CallParts {
  /** Null once they are no longer kept. */
  data: Record<string, unknown> | null
  attachments: { filename: string; contentType: string; contentId: string | null; size: number; sha256: string }[]
}

export const NO_CALL: CallParts = { data: null, attachments: [] }

export async function readCallParts(sql: Queryable, businessId: string, messageId: string): Promise<CallParts> {
  const [found] = await sql<{ values: string | null; attachments: CallParts['attachments'] }[]>`
    select m."values", (
      select coalesce(json_agg(json_build_object('filename', a.filename, 'contentType', a.content_type, 'contentId', a.content_id,
        'size', a.size, 'sha256', encode(a.sha256, 'hex')) order by a.place), '[]')
      from call_attachments a where a.business_id = m.business_id and a.message_id = m.id
    ) as attachments
    from messages m where m.business_id = ${businessId} and m.id = ${messageId}`
  if (found === undefined) return NO_CALL
  const { values, attachments } = found
  const { data = null } = values === null ? {} : (JSON.parse(values) as Partial<CallParts>)
  return { data, attachments }
}
