/**
 * The parameters of `save_changes` in named notation, and the columns of each long list in the order in which the
 * function unnests them. `test/contacts/save-parameters.test.ts` compares both with the SQL.
 */
import type { Sql } from '../../stores/postgres.ts'
import { PROFILE_COLUMNS } from '../profile-columns.ts'
import type { Cell } from '../../stores/write-columns.ts'

const CONTACT_COLUMNS = [
  ...(['keyed', 'stage', 'orders', 'tags', 'traits'] as const),
  ...PROFILE_COLUMNS,
  'page_filled',
] as const

/** Columns by parameter. A `place` is the position of a contact in `contact_ids`, starting at 1. */
export const COLUMNS = {
  businesses: ['id', 'version', 'new_fields'],
  assumed: ['place', 'version'],
  new_contacts: ['place', 'created_at', 'merged_into', ...CONTACT_COLUMNS],
  /** `assumed`: the position in `assumed`, starting at 1. */
  known_contacts: ['assumed', 'raised', ...CONTACT_COLUMNS],
  merges: ['loser', 'survivor'],
  new_identities: ['place', 'kind', 'value', 'proven', 'phone_read', 'nth', 'turn'],
  statistics: ['place', 'of_new', 'event', 'first_at', 'last_at', 'count'],
  revenue: ['place', 'currency', 'amount'],
  keys: ['business_id', 'key_hash', 'contact_id', 'occurred_at', 'event'],
  membership_rules: ['business_id', 'no'],
  /** `rule`: the position in `membership_rules`, starting at 1. */
  memberships: ['place', 'rule', 'entered', 'at', 'cause'],
  clocks: ['place', 'due_at', 'settled_at', 'bulk_facts', 'changed_at'],
} as const satisfies Record<string, readonly string[]>

export type ColumnList = keyof typeof COLUMNS
export type RowsOf<List extends ColumnList> = Record<(typeof COLUMNS)[List][number], Cell>[]
/** The cells of each column. */
export type TableOf<List extends ColumnList> = Record<(typeof COLUMNS)[List][number], Cell[]>

const COLUMN_LIST = '::text::text[]'
const RECORDS = '::text::json'

/** The cast of each parameter; empty when none is needed. */
export const PARAMETERS = {
  partition: '',
  epoch: '',
  from: '',
  to: '',
  attempt: '',
  dry_run: '',
  businesses: COLUMN_LIST,
  new_fields: RECORDS,
  contact_businesses: '::text::uuid[]',
  contact_ids: '::text::uuid[]',
  assumed: COLUMN_LIST,
  raised: '::text::integer[]',
  new_contacts: COLUMN_LIST,
  known_contacts: COLUMN_LIST,
  released: RECORDS,
  ended_enrolments: RECORDS,
  merges: COLUMN_LIST,
  kept_identities: RECORDS,
  new_identities: COLUMN_LIST,
  primaries: RECORDS,
  statistics: COLUMN_LIST,
  revenue: COLUMN_LIST,
  keys: COLUMN_LIST,
  keys_unasked: '',
  visitors: RECORDS,
  visitor_links: RECORDS,
  link_steps: RECORDS,
  visitor_events: RECORDS,
  sightings: RECORDS,
  listed_visitors: RECORDS,
  identifications: RECORDS,
  new_enrolments: RECORDS,
  subscriptions: RECORDS,
  past_choices: RECORDS,
  merge_log: RECORDS,
  events: '',
  event_count: '',
  changed: '::text::boolean[]',
  dead_letters: RECORDS,
  replayed: RECORDS,
  erasures: RECORDS,
  deliveries: RECORDS,
  edits: RECORDS,
  membership_rules: COLUMN_LIST,
  memberships: COLUMN_LIST,
  clocks: COLUMN_LIST,
  windows: RECORDS,
  window_refreshes: RECORDS,
  done_refreshes: RECORDS,
  first_steps: RECORDS,
  applied_steps: RECORDS,
  awaited_events: RECORDS,
  message_events: RECORDS,
  repeated: '',
  topics: RECORDS,
  keyed_enrolments: RECORDS,
  followed_triggers: RECORDS,
  goal_times: RECORDS,
} as const satisfies Record<string, string>

type Parameter = keyof typeof PARAMETERS
export type Arguments = Record<Parameter, string | number | boolean | null>

const NAMES = Object.keys(PARAMETERS) as Parameter[]

/**
 * `save_changes(p_partition => $1, …)` as a tagged template, built once. It is not `sql.unsafe`, because the guards do
 * not cover that.
 */
const CALL = templateOf(
  NAMES.map((name, at) => `${at === 0 ? 'select save_changes(' : `${PARAMETERS[NAMES[at - 1]!]}, `}p_${name} => `),
  `${PARAMETERS[NAMES.at(-1)!]}) as saved`,
)

function templateOf(before: string[], after: string): TemplateStringsArray {
  const strings = [...before, after]
  return Object.assign(strings, { raw: strings })
}

export async function callSaveChanges(sql: Sql, values: Arguments): Promise<boolean | null> {
  const [row] = await sql<[{ saved: boolean | null }]>(CALL, ...NAMES.map((name) => values[name]))
  return row.saved
}
