import { loadMessageKey } from '../../messages/message-key.ts'
import { suppress } from '../../messages/suppressions/suppress.ts'
import { suppressionOf } from '../../rules/messages/blame.ts'
import { ADDRESS_CHANNELS, readChannelAddress } from '../../rules/messages/suppression.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { ClaimedSend } from './claim-due.ts'
import type { Attempt } from './send-message.ts'

/** Suppresses the address of a message that was refused for good, if the refusal says so. Doing it again changes nothing. */
export async function suppressRefused(
  sql: Sql,
  { businessId, step, recipient }: ClaimedSend,
  { outcome }: Attempt,
  now: number,
): Promise<void> {
  const reason = outcome.kind === 'refused' ? suppressionOf(outcome.blame) : null
  const channel = ADDRESS_CHANNELS.find((one) => one === step.channel)
  if (reason === null || channel === undefined || recipient === null) return
  const address = readChannelAddress(channel, recipient, null)
  if (address === null) return
  const key = await loadMessageKey(sql)
  await sql.begin((tx) => suppress(tx, key, { businessId, now }, [{ ...address, reason }]))
}
