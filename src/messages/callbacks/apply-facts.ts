/**
 * Applies what callbacks say. One call can have very many reports, so each transaction applies a set of them. A call
 * that fails half-way comes again, and what was applied changes nothing then.
 */
import type { Logger } from '../../log.ts'
import type { Sql } from '../../stores/postgres.ts'
import { inTransaction } from '../../stores/transaction.ts'
import type { SenderKey } from '../channels/channels.ts'
import { type RefusedSender, countReported, logPaused, pauseRefused } from '../channels/pause-channel.ts'
import { loadMessageKey } from '../message-key.ts'
import { applyReport } from './apply-report.ts'
import { applyWord } from './apply-word.ts'
import type { ReportFact, WordFact } from './callbacks.ts'
import { lockMessages } from './find-messages.ts'

/** Number of facts per transaction. */
const SET = 100

/** `receivedAt`: epoch milliseconds. `isCurrent`: the sender still has the provider that they are from. */
interface Received {
  receivedAt: number
  isCurrent: boolean
}

export async function applyFacts(
  { sql, log }: { sql: Sql; log: Logger },
  sender: SenderKey,
  facts: readonly (ReportFact | WordFact)[],
  received: Received,
): Promise<void> {
  for (let at = 0; at < facts.length; at += SET) {
    const paused = await applySet(sql, sender, facts.slice(at, at + SET), received)
    logPaused(log, paused)
  }
}

async function applySet(
  sql: Sql,
  sender: SenderKey,
  facts: readonly (ReportFact | WordFact)[],
  { receivedAt, isCurrent }: Received,
): Promise<SenderKey[]> {
  const key = await loadMessageKey(sql)
  const reports = facts.filter((fact) => fact.kind === 'report')
  return await inTransaction(sql, async (tx) => {
    const messages = await lockMessages(tx, sender, reports)
    const refused: RefusedSender[] = []
    for (const [place, report] of reports.entries()) {
      const message = messages[place] ?? null
      if (message === null) continue
      const isNew = await applyReport(tx, key, sender, { message, fact: report, receivedAt })
      if (isNew && isCurrent && report.report.blame === 'sender') refused.push({ ...sender, at: receivedAt })
    }
    for (const fact of facts) if (fact.kind === 'word') await applyWord(tx, key, sender, fact, receivedAt)
    for (const one of refused) await countReported(tx, one)
    return pauseRefused(tx, refused.slice(0, 1))
  })
}
