import type { Queryable } from '../../stores/postgres.ts'
import type { CallOptions } from '../due-call.ts'

interface DroppedCall {
  businessId: string
  messageId: string
  options: CallOptions
}

/**
 * Ends the work on messages that are settled. The contents of their files are deleted; their data are, too, when they
 * are sensitive, with all that was rendered from them. Otherwise they are kept like those of campaigns.
 */
export async function dropCalls(tx: Queryable, calls: readonly DroppedCall[]): Promise<void> {
  if (calls.length === 0) return
  const rows = calls.map(({ businessId, messageId, options }) => ({
    business_id: businessId,
    id: messageId,
    sensitive: options.sensitive,
  }))
  await tx`
    with x as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as x (business_id uuid, id uuid, sensitive boolean)
    ),
    gone as (
      delete from due_calls d using x where d.business_id = x.business_id and d.message_id = x.id
    ),
    emptied as (
      update call_attachments a set content = null from x where a.business_id = x.business_id and a.message_id = x.id
    ),
    forgotten as (
      delete from logged_messages l using x, messages m
      where x.sensitive and m.business_id = x.business_id and m.id = x.id
        and l.business_id = x.business_id and l.channel = m.channel and l.id = x.id
    )
    update messages m set
      "values" = case when x.sensitive then null else m."values" end, kept = not x.sensitive and m."values" is not null
    from x where m.business_id = x.business_id and m.id = x.id`
}
