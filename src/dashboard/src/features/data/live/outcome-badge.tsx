import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Outcome } from './search.ts'

const KINDS: Record<Outcome, BadgeKind> = {
  done: 'good',
  warned: 'warn',
  queued: 'accent',
  refused: 'bad',
  limited: 'warn',
  failed: 'bad',
}

export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  return <Badge kind={KINDS[outcome]}>{textsOf('live').outcomes[outcome]}</Badge>
}
