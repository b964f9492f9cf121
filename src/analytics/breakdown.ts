/** Breakdowns of events: by a value of the event, of its contact as it is now, or by the segments of the contact. */
import { jsonStringSql } from '../segments/clickhouse/json-sql.ts'
import { eventPropertySql } from '../segments/clickhouse/windows-sql.ts'
import { contactsSql } from './events-sql.ts'

export type Breakdown =
  | { by: 'event' | 'source' | 'stage' | 'country' | 'segment' }
  /** A custom field, or the path of a property. */
  | { by: 'field' | 'property'; name: string }

/** Source of the keys of a breakdown. */
export type Keys =
  /** Key of an event: an expression over `value`, which is a value of the event. */
  | { of: 'event'; value: string; keyOf: (value: string) => string }
  /** Keys of a contact: a query that selects `contact_id` and `keys`, an array. It may use the parameter `field`. */
  | { of: 'contact'; keys: string; areMany: boolean }

/** Keys are values with a prefix, so that no value can be mistaken for a missing one. */
const NONE = ''
const marked = (text: string): string => `concat('=', ${text})`

/** The value of a key; null when it is missing. */
export const valueOf = (key: string): string | null => (key === NONE ? null : key.slice(1))

export function keysOf(breakdown: Breakdown): Keys {
  switch (breakdown.by) {
    case 'event':
    case 'source':
      return { of: 'event', value: breakdown.by, keyOf: marked }
    case 'property':
      return { of: 'event', value: eventPropertySql(breakdown.name), keyOf: textOf }
    case 'stage':
      return ofContacts(marked('stage'))
    case 'country':
      return ofContacts(`ifNull(${marked('country')}, '${NONE}')`)
    case 'field':
      return ofContacts(textOf('JSONExtractRaw(custom_fields, {field: String})'))
    case 'segment':
      return {
        of: 'contact',
        keys: `select contact_id, groupArray(${marked('toString(segment_id)')}) as keys
        from segment_members where business_id = {business: UUID} group by contact_id`,
        areMany: true,
      }
  }
}

const ofContacts = (key: string): Keys => ({ of: 'contact', keys: contactsSql({ keys: `[${key}]` }), areMany: false })

/** Texts without their quotation marks, other values as JSON. */
const textOf = (json: string): string =>
  `multiIf(${json} in ('', 'null'), '${NONE}', startsWith(${json}, '"'), ${marked(jsonStringSql(json))}, ${marked(json)})`
