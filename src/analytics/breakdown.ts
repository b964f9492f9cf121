/** What events are broken down by: a value of the event, of its contact as it is now, or the segments that the contact is in. */
import { propertySql } from '../segments/clickhouse/json-sql.ts'
import { PROPERTIES } from '../segments/clickhouse/windows-sql.ts'
import { contactsSql, eventsSql } from './events-sql.ts'

export type Breakdown =
  | { by: 'event' | 'source' | 'stage' | 'country' | 'segment' }
  /** A custom field, or the path of a property. */
  | { by: 'field' | 'property'; name: string }

/** Keys are values with a mark before them, so that no value can be mistaken for these two. */
const NONE = ''
export const OTHER = '*'
const marked = (text: string): string => `concat('=', ${text})`

/** The value of a key; null for none and for the others. */
export const valueOf = (key: string): string | null => (key.startsWith('=') ? key.slice(1) : null)

/** Events with `keys`, an array: the segments of the contact, or one value. Takes the parameter `field`. */
export function keyedSql(breakdown: Breakdown, source: Parameters<typeof eventsSql>[0]): string {
  switch (breakdown.by) {
    case 'event':
    case 'source':
      return eventsSql({ ...source, columns: { ...source.columns, keys: `[${marked(breakdown.by)}]` } })
    case 'property': {
      const keys = `[${textOf(propertySql(PROPERTIES, breakdown.name))}]`
      return eventsSql({ ...source, columns: { ...source.columns, keys } })
    }
    case 'stage':
      return joinedSql(eventsSql(source), contactsSql({ keys: `[${marked('stage')}]` }))
    case 'country':
      return joinedSql(eventsSql(source), contactsSql({ keys: `[ifNull(${marked('country')}, '${NONE}')]` }))
    case 'field':
      return joinedSql(
        eventsSql(source),
        contactsSql({ keys: `[${textOf('JSONExtractRaw(custom_fields, {field: String})')}]` }),
      )
    case 'segment':
      return joinedSql(
        eventsSql(source),
        `select contact_id, groupArray(${marked('toString(segment_id)')}) as keys
        from segment_members where business_id = {business: UUID} group by contact_id`,
      )
  }
}

/** A contact that has not reached ClickHouse yet has no keys. */
const joinedSql = (events: string, contacts: string): string =>
  `select happened.*, contact.keys as keys from (${events}) as happened
  left join (${contacts}) as contact on contact.contact_id = happened.contact_id`

/** Texts without their quotes, other values as JSON. */
const textOf = (json: string): string =>
  `multiIf(${json} in ('', 'null'), '${NONE}', startsWith(${json}, '"'), ${marked(`JSONExtractString(${json})`)}, ${marked(json)})`
