import { Badge, type BadgeKind } from '../../parts/value/badge.tsx'
import { textsOf } from '../../texts/index.ts'
import type { ListedCampaign } from './queries.ts'

const KINDS: Record<ListedCampaign['status'], BadgeKind> = {
  draft: 'accent',
  published: 'good',
  paused: 'warn',
  archived: 'neutral',
}

export function CampaignStatus({ status }: Pick<ListedCampaign, 'status'>) {
  return <Badge kind={KINDS[status]}>{textsOf('campaigns').statuses[status]}</Badge>
}
