import type { ChosenSender } from '../../campaigns/engine/send/claim-senders.ts'
import type { CallVerdict } from '../../rules/calls/decide-call.ts'
import type { HeldBy } from '../../rules/campaigns/checked-send.ts'
import type { LockedCall } from './lock-calls.ts'

/** What becomes of a due message. */
export interface CallMove {
  call: LockedCall
  recipient: string | null
  /** `hold`: it is decided again at `until` (epoch milliseconds). */
  verdict:
    | Exclude<CallVerdict, { kind: 'send' }>
    | { kind: 'send'; sender: ChosenSender }
    | { kind: 'hold'; until: number; heldBy: HeldBy }
}
