/** Sends the mails of boards that are due. Several front doors may do this at the same time. */
import { can } from '../../../accounts/rights.ts'
import type { SystemMailer } from '../../../accounts/system-mail.ts'
import { type Business, findBusinesses } from '../../../businesses/find-business.ts'
import type { Logger } from '../../../log.ts'
import type { ClickHouseClient } from '../../../stores/clickhouse.ts'
import type { Sql } from '../../../stores/postgres.ts'
import type { Computation } from '../../charts/chart.ts'
import { CHARTS } from '../../charts/charts.ts'
import { checkParameters } from '../../charts/parameters.ts'
import { QueryFault, openReader } from '../../read-rows.ts'
import { listQueries } from '../../sql-page/saved-queries.ts'
import type { StatementRunner } from '../../sql-page/statement-runner.ts'
import type { Board, BoardChart } from '../board.ts'
import {
  type DueBoard,
  type Recipient,
  beginComposing,
  claimMail,
  endComposing,
  findDueBoards,
  listRecipients,
  settleMail,
} from '../claim-mails.ts'
import { composeMail, readLanguage } from './compose-mail.ts'
import { readFigures } from './read-summary.ts'
import type { Summary } from './summary.ts'

export interface MailDeps {
  sql: Sql
  clickhouse: ClickHouseClient
  log: Logger
  runStatement: StatementRunner
  mailer: Pick<SystemMailer, 'send'>
  /**
   * Charts of mails wait for the same slots as charts that people open. Resolves with a function that releases the slot.
   * Rejects when none becomes free in time.
   */
  slots: { costly: (businessId: string, signal: AbortSignal) => Promise<() => void> }
  publicUrl: string
}

/** A store does not answer, or no slot is free. The mails are composed again some minutes later. */
class NotNow extends Error {
  override name = 'NotNow'
}

/** Logs failures. The failure of one board does not affect the others. `now`: epoch ms. */
export async function sendDueBoards(deps: MailDeps, now: number, signal: AbortSignal): Promise<void> {
  for (const due of await findDueBoards(deps.sql, now)) {
    if (signal.aborted) return
    const board = await beginComposing(deps.sql, due)
    if (board === null) continue
    let outcome: 'done' | 'failed' = 'done'
    try {
      await sendBoard(deps, { due, board, now }, signal)
    } catch (error) {
      if (signal.aborted) return
      outcome = 'failed'
      deps.log.warn({ err: error, board: due.boardId }, 'the mails of a board wait, trying again')
    } finally {
      await endComposing(deps.sql, due, outcome)
    }
  }
}

interface Sending {
  due: DueBoard
  board: Pick<Board, 'name' | 'charts'>
  now: number
}

async function sendBoard(deps: MailDeps, { due, board, now }: Sending, signal: AbortSignal): Promise<void> {
  const recipients = await listRecipients(deps.sql, due)
  const business = (await findBusinesses(deps.sql, [due.businessId])).get(due.businessId)
  if (business === undefined) return
  const pages = `${deps.publicUrl.replace(/\/$/, '')}/dashboard/b/${due.businessId}/`
  const summaries: Summary[] = []
  for (const chart of board.charts) {
    // A chart that no recipient may see is not read.
    const isSeen = recipients.some(({ role }) => can(role, chart.needs))
    const read = { business, chart, week: due.week, now }
    summaries.push(isSeen ? await readWithSlot(deps, read, signal) : { kind: 'gone' })
  }
  for (const recipient of recipients) {
    if (signal.aborted) return
    const sections = board.charts.map(({ title, page, needs }, at) => ({
      title,
      link: pages + page,
      summary: can(recipient.role, needs) ? (summaries[at] ?? { kind: 'gone' as const }) : { kind: 'hidden' as const },
    }))
    const link = `${pages}boards/${due.boardId}`
    const shown = { business: business.name, board: board.name, week: due.week, sections }
    const mail = { ...shown, link, turnOff: `${link}?mail=true` }
    await sendTo(deps, due, recipient, composeMail(mail, readLanguage(recipient.language)))
  }
}

async function sendTo(
  { sql, mailer, log }: MailDeps,
  due: DueBoard,
  recipient: Recipient,
  content: ReturnType<typeof composeMail>,
): Promise<void> {
  if (!(await claimMail(sql, due, recipient))) return
  const { userId, email } = recipient
  try {
    await mailer.send({ to: email, ...content })
  } catch (error) {
    const isRefused = wasRefused(error as SmtpError)
    log.warn({ err: error, board: due.boardId, user: userId }, 'the mail of a board was not sent')
    return settleMail(sql, due, userId, isRefused ? 'failed' : 'unknown')
  }
  await settleMail(sql, due, userId, 'sent')
}

/** An error of nodemailer. The command `CONN` means that the connection was lost. */
interface SmtpError extends Error {
  code?: string
  command?: string
  responseCode?: number
  syscall?: string
  /** `SOCKET_TIMEOUT` may occur after the mail was sent; the others occur before. */
  timeoutType?: string
}

const EARLY_TIMEOUT = /^(CONNECT|GREETING|UPGRADE)_TIMEOUT$/

/**
 * Returns true only when the mail was certainly not accepted: the server rejected a command, or no command was sent. In
 * all other cases, the server may have accepted the mail.
 */
function wasRefused({ message, code, command, responseCode = 0, syscall, timeoutType = '' }: SmtpError): boolean {
  if (code === 'EAUTH' || code === 'EDNS' || code === 'EENVELOPE' || syscall === 'connect') return true
  if (EARLY_TIMEOUT.test(timeoutType)) return true
  // An unexpected reply later in the session has the same code and the same command.
  if (code === 'EPROTOCOL' && message.startsWith('Invalid greeting')) return true
  return command !== 'CONN' && responseCode >= 400
}

interface Read {
  business: Business
  chart: BoardChart
  week: string
  now: number
}

async function readWithSlot(deps: MailDeps, read: Read, signal: AbortSignal): Promise<Summary> {
  const release = await deps.slots.costly(read.business.id, signal).catch((cause: unknown) => {
    throw new NotNow('the charts of people have their turn', { cause })
  })
  try {
    return await readSummary(deps, read, signal)
  } finally {
    release()
  }
}

async function readSummary(
  deps: MailDeps,
  { business, chart, week, now }: Read,
  signal: AbortSignal,
): Promise<Summary> {
  const { sql, clickhouse, log } = deps
  const { kind, query } = chart
  if (kind === 'sql') return runQuery(deps, business, query['queryId'] ?? '', signal)
  const compute = (parameters: Record<string, string>): Promise<object> => {
    const sent = { query: new URLSearchParams(parameters), now, business }
    const checked = checkParameters<Computation<object>>(sent, CHARTS[kind])
    if ('faults' in checked) throw new Gone()
    return checked.query({ sql, openReader: (limits) => openReader({ clickhouse, log, signal }, limits) })
  }
  try {
    return { kind: 'figures', figures: await readFigures(kind, query, week, compute) }
  } catch (error) {
    if (error instanceof Gone) return { kind: 'gone' }
    if (!(error instanceof QueryFault)) throw error
    if (error.reason === 'too_much') return { kind: 'too_much' }
    throw new NotNow('ClickHouse does not answer', { cause: error })
  }
}

/** The parameters name what no longer exists. */
class Gone extends Error {
  override name = 'Gone'
}

async function runQuery(
  { sql, runStatement }: MailDeps,
  { id: businessId }: Business,
  queryId: string,
  signal: AbortSignal,
): Promise<Summary> {
  const query = (await listQueries(sql, businessId)).find(({ id }) => id === queryId)
  if (query === undefined) return { kind: 'gone' }
  const outcome = await runStatement({ businessId, text: query.statement, parameters: query.parameters }, signal)
  if (outcome === 'no_answer') throw new NotNow('ClickHouse does not answer')
  if (outcome === 'not_set_up') return { kind: 'gone' }
  if ('result' in outcome) {
    const { columns, rows } = outcome.result
    return { kind: 'table', columns: columns.map(({ name }) => name), rows }
  }
  if (outcome.fault.kind === 'refused') return { kind: 'gone' }
  if (outcome.fault.kind === 'slow' || outcome.fault.kind === 'memory') return { kind: 'too_much' }
  throw new NotNow('ClickHouse is busy')
}
