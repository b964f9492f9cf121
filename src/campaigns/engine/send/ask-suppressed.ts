import { loadMessageKey } from '../../../messages/message-key.ts'
import { type BusinessAddress, findSuppressed } from '../../../messages/suppressions/find-suppressed.ts'
import type { MessageChannel } from '../../../rules/messages/message-channel.ts'
import type { Queryable, Sql } from '../../../stores/postgres.ts'
import type { MoveFacts, VersionedRow } from '../claim/read-move-facts.ts'

export type IsSuppressed = (businessId: string, channel: MessageChannel, address: string) => boolean

/**
 * Finds the suppressed addresses of all rows with one query, after their contacts were locked. `sql`: the connections
 * of `tx`.
 */
export async function askSuppressed(
  sql: Sql,
  tx: Queryable,
  rows: readonly VersionedRow[],
  facts: ReadonlyMap<string, MoveFacts>,
): Promise<IsSuppressed> {
  const asked = rows.flatMap(({ businessId, enrolmentId, of }) => {
    const found = facts.get(enrolmentId)
    return found ? of.channels.flatMap((channel) => addressesOf(businessId, channel, found)) : []
  })
  const answers = await findSuppressed(tx, await loadMessageKey(sql), asked)
  const suppressed = new Set(asked.filter((_, at) => answers[at]).map(nameOf))
  return (businessId, channel, address) => suppressed.has(`${businessId} ${channel} ${address}`)
}

const nameOf = ({ businessId, channel, address }: BusinessAddress): string => `${businessId} ${channel} ${address}`

function addressesOf(businessId: string, channel: MessageChannel, { emails, phones }: MoveFacts): BusinessAddress[] {
  if (channel === 'push' || channel === 'webhook') return []
  return (channel === 'email' ? emails : phones).map((address) => ({ businessId, channel, address }))
}
