import type { NewSuppression } from '../../../messages/suppressions/suppress.ts'
import { suppressionOf } from '../../../rules/messages/blame.ts'
import { ADDRESS_CHANNELS, readChannelAddress } from '../../../rules/messages/suppression.ts'
import type { ClaimedSend } from '../claim/claim-due.ts'
import type { Attempt } from './attempt.ts'

/** Returns the suppression that a refusal of the message implies for its address. Null: none. */
export function refusedAddress(
  { step, recipient }: Pick<ClaimedSend, 'recipient'> & { step: Pick<ClaimedSend['step'], 'channel'> },
  { outcome }: Pick<Attempt, 'outcome'>,
): NewSuppression | null {
  const reason = outcome.kind === 'refused' ? suppressionOf(outcome.blame) : null
  const channel = ADDRESS_CHANNELS.find((one) => one === step.channel)
  if (reason === null || channel === undefined || recipient === null) return null
  const address = readChannelAddress(channel, recipient, null)
  return address && { ...address, reason }
}
