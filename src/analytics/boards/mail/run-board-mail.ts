/** Checks every minute whether mails of boards are due, and sends them. */
import { sleep } from '../../../async/sleep.ts'
import { type MailDeps, sendDueBoards } from './send-boards.ts'

const EVERY_MS = 60_000

export interface BoardMail {
  /** Resolves when the mail in progress has been sent. */
  close(): Promise<void>
}

export function runBoardMail(deps: MailDeps, now: () => number): BoardMail {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async () => {
    while (!signal.aborted) {
      await sendDueBoards(deps, now(), signal).catch((error: unknown) => {
        if (!signal.aborted) deps.log.warn({ err: error }, 'could not look for due mails of boards, trying again')
      })
      await sleep(EVERY_MS, signal)
    }
  }
  const running = run()
  return {
    async close() {
      stopping.abort()
      await running
    },
  }
}
