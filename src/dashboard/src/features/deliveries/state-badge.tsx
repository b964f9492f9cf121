import { Badge, type BadgeKind } from '../../parts/value/badge.tsx'
import { textsOf } from '../../texts/index.ts'
import type { State } from './search.ts'

const KINDS: Record<State, BadgeKind> = { queued: 'accent', sent: 'good', dead: 'bad' }

export function StateBadge({ state }: { state: State }) {
  return <Badge kind={KINDS[state]}>{textsOf('deliveries').states[state]}</Badge>
}
