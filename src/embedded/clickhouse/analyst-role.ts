/** The rights and limits of the user `analyst` in the embedded ClickHouse. */
import { NOT_SETTINGS } from './clickhouse-statement.ts'

export const ANALYST = 'analyst'
export const ROLE = 'analyst'

export const LIMITS = {
  /**
   * Maximum number of concurrent statements, separately for analysts' tools and for the SQL page. Sluice's other
   * statements do not count.
   */
  atOnce: 4,
  statementBytes: 256 * 1024,
  seconds: 60,
  memoryBytes: 1024 ** 3,
  /** A result is collected in memory before it is sent. */
  resultBytes: 256 * 1024 ** 2,
  threads: 2,
}

/**
 * Settings that no user may change, not even Sluice. They would let ClickHouse read a file, or evaluate data or another
 * setting as SQL.
 */
const FIXED: Record<string, string | undefined> = {
  input_format_values_interpret_expressions: '0',
  input_format_values_deduce_templates_of_expressions: '0',
  ...Object.fromEntries(
    `additional_result_filter allow_experimental_ai_functions allow_experimental_eval_table_function
    default_database_engine default_table_engine default_temporary_table_engine dialect format_schema format_schema_source
    format_template_resultset format_template_row parallel_replicas_custom_key`
      .split(/\s+/)
      .map((name) => [name, undefined]),
  ),
}

const PROFILE = Object.entries(FIXED)
  .flatMap(([name, value]) => (value === undefined ? [] : [`<${name}>${value}</${name}>`]))
  .join('')
const CONSTRAINTS = Object.keys(FIXED)
  .map((name) => `<${name}><const/></${name}>`)
  .join('')

/**
 * Rights on Sluice's two databases, whose names begin with the same text. Grants no rights on sources such as FILE, URL
 * or REMOTE.
 */
const OWN =
  'SHOW, SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP, TRUNCATE, OPTIMIZE, SYSTEM MERGES'

/**
 * The users of ClickHouse. All connections share one user. All its rights come from roles, so a connection drops its
 * rights with `SET ROLE analyst`. Views read with the rights of the user who created them.
 */
export const usersConfig = (database: string): string => `<clickhouse>
  <profiles><default>${PROFILE}<constraints>${CONSTRAINTS}</constraints></default></profiles>
  <quotas><default/></quotas>
  <roles>
    <owner><grants>
      <query>GRANT ${OWN} ON ${database}*.*</query>
      <query>GRANT SELECT ON system.*</query>
    </grants></owner>
    <${ROLE}><grants><query>GRANT SELECT ON ${database}.*</query></grants></${ROLE}>
  </roles>
  <users>
    <default>
      <password/>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants><query>GRANT owner</query><query>GRANT ${ROLE}</query></grants>
    </default>
  </users>
</clickhouse>
`

/** Result format settings that tools may change. All others are fixed, as for a user with readonly = 1. */
const FREE =
  /^(?:date_time_output_format|extremes|join_use_nulls|max_result_rows|result_overflow_mode|session_timezone|output_format_(?:json|csv|tsv|pretty|native|binary|write|decimal)\w*)$/
/** Protocol settings that have no effect here. */
const IGNORED = /^(?:client_protocol_version|http_\w+)$/
/** URL parameter that restricts a statement to the rows of one business. Not a ClickHouse setting. */
const BUSINESS = 'sluice_business'
const PARAMETER = /^param_\w+$/

/**
 * Returns the settings and parameters of a request's URL, within the limits. Throws errors like those of ClickHouse.
 */
export function settingsOf(query: URLSearchParams): Record<string, string> {
  const given = [...query].filter(([name]) => !NOT_SETTINGS.has(name) && !IGNORED.test(name) && name !== BUSINESS)
  const refused = given.find(([name]) => !FREE.test(name) && !PARAMETER.test(name) && !isTime(name))
  if (refused)
    throw new Error(`Code: 164. DB::Exception: Cannot modify '${refused[0]}' setting in readonly mode. (READONLY)`)
  const free = given.filter(([name]) => !isTime(name))
  const seconds = Number(query.get('max_execution_time') ?? LIMITS.seconds)
  return {
    ...Object.fromEntries(free),
    max_execution_time: String(seconds > 0 ? Math.min(seconds, LIMITS.seconds) : LIMITS.seconds),
    max_memory_usage: String(LIMITS.memoryBytes),
    max_result_bytes: String(LIMITS.resultBytes),
    // Never spills data that does not fit into memory to the disk: a full disk would end ClickHouse.
    max_bytes_before_external_group_by: '0',
    max_bytes_ratio_before_external_group_by: '0',
    max_bytes_before_external_sort: '0',
    max_bytes_ratio_before_external_sort: '0',
    max_threads: String(LIMITS.threads),
    allow_introspection_functions: '0',
  }
}

const isTime = (name: string): boolean => name === 'max_execution_time'

/**
 * Returns the business to which a request is restricted; undefined when it is not. Throws an error like those of
 * ClickHouse.
 */
export function businessOf(query: URLSearchParams): string | undefined {
  const [id, ...others] = query.getAll(BUSINESS)
  if (id === undefined) return undefined
  if (others.length === 0 && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return id
  throw new Error(`Code: 36. DB::Exception: '${BUSINESS}' must be one UUID. (BAD_ARGUMENTS)`)
}
