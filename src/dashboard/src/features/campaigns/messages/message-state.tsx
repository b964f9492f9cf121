import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { MessageState } from '../queries.ts'

const KINDS: Record<MessageState, BadgeKind> = {
  queued: 'accent',
  claimed: 'accent',
  sent: 'good',
  delivered: 'good',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  skipped: 'neutral',
  unknown: 'warn',
}

export function MessageStateBadge({ state }: { state: MessageState }) {
  return <Badge kind={KINDS[state]}>{textsOf('campaigns').messageStates[state]}</Badge>
}
