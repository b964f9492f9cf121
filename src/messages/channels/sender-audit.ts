import { DEFAULT_SENDER, type SenderKey } from './channels.ts'

type Verb = 'save' | 'remove' | 'pause' | 'resume' | 'unreachable' | 'reachable'

/** The audit entry of a change: that of the sender `default` is one of its channel. */
export const auditOf = (
  { businessId, channel, sender }: SenderKey,
  verb: Verb,
): { businessId: string; action: string; target: string } =>
  sender === DEFAULT_SENDER
    ? { businessId, action: `channel.${verb}`, target: channel }
    : { businessId, action: `sender.${verb}`, target: sender }
