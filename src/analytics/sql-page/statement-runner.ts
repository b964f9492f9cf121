/**
 * Runs statements that people write on the rows of one business: as `analyst` of the ClickHouse of `start`, or as a
 * user of a server.
 */
import { type Actor, recordAudit } from '../../audit/audit.ts'
import type { Logger } from '../../log.ts'
import { STATEMENT_LIMITS } from '../../rules/statement-limits.ts'
import { createTtlCache } from '../../async/ttl-cache.ts'
import type { ClickHouseClient } from '../../stores/clickhouse.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type BusinessUser, businessUserOf, ensureBusinessUser } from './business-user.ts'
import { type StatementResult, escapeParameter, readStatementResult } from './read-statement-result.ts'
import { type StatementFault, readStatementError } from './statement-error.ts'

export interface Statement {
  businessId: string
  text: string
  /** Values of `{name: Type}` by name. `business` is always set to `businessId`. */
  parameters: Record<string, string>
}

export type StatementOutcome = { result: StatementResult } | { fault: StatementFault } | 'no_answer' | 'not_set_up'

/** Rejects with the reason of `signal` when it aborts; ClickHouse then stops the statement. */
export type StatementRunner = (statement: Statement, signal: AbortSignal) => Promise<StatementOutcome>

/** Records who runs the statement, but not the statement itself, and runs it. `ms`: how long it ran. */
export async function runAs(
  { sql, runStatement }: { sql: Sql; runStatement: StatementRunner },
  actor: Actor,
  statement: Statement,
  signal: AbortSignal,
): Promise<{ outcome: StatementOutcome; ms: number }> {
  await recordAudit(sql, { businessId: statement.businessId, actor, action: 'sql.run', target: null })
  const began = performance.now()
  const outcome = await runStatement(statement, signal)
  return { outcome, ms: Math.round(performance.now() - began) }
}

interface Options {
  clickhouse: ClickHouseClient
  clickhouseUrl: string
  /** URL of the user `analyst` in the ClickHouse of `start`; undefined for a server. */
  analystUrl: string | undefined
  /** ANALYST_PASSWORD; undefined when it is not set. */
  analystPassword: string | undefined
  log: Logger
}

const FORMAT = 'TabSeparatedWithNamesAndTypes'
/** ClickHouse limits the time of a statement itself; this is for a ClickHouse that does not answer at all. */
const PATIENCE_MS = (STATEMENT_LIMITS.seconds + 3) * 1000
/** How long a created user of a server is assumed to be unchanged. */
const KEPT = { ms: 600_000, max: 1000 }

export function createStatementRunner(options: Options): StatementRunner {
  const { clickhouse, clickhouseUrl, analystUrl, analystPassword, log } = options
  const users = createTtlCache<BusinessUser | null>(KEPT)
  const makeUser = async (businessId: string, password: string): Promise<BusinessUser | null> => {
    const user = businessUserOf(clickhouse.databases, businessId, password)
    try {
      await ensureBusinessUser(clickhouse, user, businessId)
      return user
    } catch (error) {
      // The driver's error contains the statement with the password.
      const reason = error instanceof Error && 'type' in error ? String(error.type) : 'ClickHouse did not answer'
      log.warn({ user: user.name, reason }, 'the user for the SQL page could not be made')
      return null
    }
  }
  return async (statement, signal) => {
    const { businessId } = statement
    if (analystUrl !== undefined) return send(statement, new URL(analystUrl), { sluice_business: businessId }, signal)
    if (analystPassword === undefined) return 'not_set_up'
    const user = await users(businessId, () => makeUser(businessId, analystPassword))
    if (user === null) return 'not_set_up'
    const url = new URL(clickhouseUrl)
    url.username = user.name
    url.password = user.password
    // Makes the HTTP status show whether the whole statement succeeded.
    return send(statement, url, { wait_end_of_query: '1' }, signal)
  }
}

async function send(
  { businessId, text, parameters }: Statement,
  server: URL,
  more: Record<string, string>,
  signal: AbortSignal,
): Promise<StatementOutcome> {
  const values = Object.entries({ ...parameters, business: businessId })
  const query = new URLSearchParams({
    database: decodeURIComponent(server.pathname.slice(1)) || 'default',
    default_format: FORMAT,
    ...Object.fromEntries(values.map(([name, value]) => [`param_${name}`, escapeParameter(value)])),
    ...more,
  })
  const credentials = [server.username, server.password].map(decodeURIComponent).join(':')
  try {
    const answer = await fetch(`${server.origin}/?${query.toString()}`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
      body: text,
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
    if (!answer.ok) return { fault: readStatementError(await answer.text()) }
    const format = answer.headers.get('x-clickhouse-format') ?? FORMAT
    if (answer.body === null || format !== FORMAT) {
      await answer.body?.cancel()
      return { fault: { kind: 'refused', message: 'Not allowed: FORMAT' } }
    }
    return { result: await readStatementResult(answer.body) }
  } catch (error) {
    signal.throwIfAborted()
    // ClickHouse did not even stop the statement: to send it again as it is would not help.
    if (error instanceof DOMException && error.name === 'TimeoutError') return { fault: { kind: 'slow' } }
    if (error instanceof TypeError || isConnectionError(error)) return 'no_answer'
    throw error
  }
}

const isConnectionError = (error: unknown): boolean => error instanceof Error && 'code' in error
