import { sleep } from '../../../async/sleep.ts'
import type { SenderKey } from '../../../messages/channels/channels.ts'
import type { HeldBy } from '../../../rules/campaigns/checked-send.ts'
import type { Sql } from '../../../stores/postgres.ts'
import { inTransaction } from '../../../stores/transaction.ts'
import { openTurns } from './channel-turns.ts'
import { connectionOf, findSenders } from './find-senders.ts'

/**
 * Takes a turn of a connection for a message without an enrolment, and waits for it until `signal` aborts. Null: the
 * message may be sent. `now`: epoch milliseconds.
 */
export async function waitForTurn(
  { sql, now }: { sql: Sql; now: () => number },
  connection: SenderKey,
  signal: AbortSignal,
): Promise<HeldBy['type'] | null> {
  for (;;) {
    const held = await inTransaction(sql, async (tx) => {
      const found = await findSenders(tx, [connection.businessId])
      const turns = await openTurns(tx, found.filter(isOf(connection)))
      // It gets a place before messages that wait for the first time, because a test is short.
      const answer = turns.take({ connection, isQueued: true, isMarketing: true, now: now() })
      await turns.store()
      return answer
    })
    if (held === null) return null
    // The sender's day does not end in time.
    if (held.heldBy.type !== 'per_second') return held.heldBy.type
    await sleep(Math.max(1, held.until - now()), signal)
    if (signal.aborted) return held.heldBy.type
  }
}

const isOf =
  ({ channel, sender }: SenderKey) =>
  (found: Parameters<typeof connectionOf>[0]) =>
    found.channel === channel && connectionOf(found).sender === sender
