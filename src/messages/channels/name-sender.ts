import { type Fault, faultOf } from '../../rules/faults.ts'
import type { Queryable } from '../../stores/postgres.ts'
import { type SenderKey, loadSender } from './channels.ts'

/**
 * Checks a sender that something is about to name in the field `path`. Until the end of the transaction, it is not
 * deleted. Null: it exists.
 */
export async function nameSender(tx: Queryable, key: SenderKey, path: string): Promise<Fault | null> {
  await tx`select from businesses where id = ${key.businessId} for share`
  const { channel } = key
  return (await loadSender(tx, key)) === null ? faultOf(path, 'sender_of_channel', { channel }) : null
}
