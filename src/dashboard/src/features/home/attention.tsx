/** Problems that need a person, each with a link to the page where they are solved. */
import { Link } from '@tanstack/react-router'
import { formatNumber } from '../../format.ts'
import { Note } from '../../parts/feedback/note.tsx'
import { useCan, useMe } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import type { Status } from './queries.ts'

/** Delay in seconds above which accepted requests are noticeably late. */
const LATE_SECONDS = 30
/** Share of rejected requests that a person should look at, and the number of requests from which it counts. */
const REFUSED = { share: 0.1, requests: 10 }

type Item =
  | 'notReady'
  | 'lateStores'
  | 'reasons'
  | 'backlog'
  | 'timeline'
  | 'deadLetters'
  | 'failedDeliveries'
  | 'pausedChannels'
  | 'refused'

export function attentionOf(status: Status): Item[] {
  const {
    isReady,
    lateStores,
    reasons,
    backlogSeconds,
    timelineSeconds,
    deadLetters,
    failedDeliveries,
    pausedChannels,
    minute,
  } = status
  const { refused = 0, limited = 0, failed = 0 } = minute?.outcomes ?? {}
  const requests = Object.values(minute?.outcomes ?? {}).reduce((sum, one) => sum + one, 0)
  const found: Record<Item, boolean> = {
    notReady: !isReady,
    lateStores: lateStores.length > 0,
    reasons: reasons.length > 0,
    backlog: (backlogSeconds ?? 0) > LATE_SECONDS,
    timeline: (timelineSeconds ?? 0) > LATE_SECONDS,
    deadLetters: deadLetters > 0,
    failedDeliveries: failedDeliveries > 0,
    pausedChannels: pausedChannels.length > 0,
    refused: requests >= REFUSED.requests && (refused + limited + failed) / requests >= REFUSED.share,
  }
  return (Object.keys(found) as Item[]).filter((item) => found[item])
}

export function Attention({ businessId, status }: { businessId: string; status: Status }) {
  return attentionOf(status).map((item) => (
    <Note key={item} action={<Way item={item} businessId={businessId} status={status} />}>
      {textOf(item, status)}
    </Note>
  ))
}

/** Renders nothing for people who may not open the page. */
function Way({ item, businessId, status }: { item: Item; businessId: string; status: Status }) {
  const texts = textsOf('home')
  const { isOperator } = useMe().user
  const canRead = useCan('contacts:read')
  const params = { businessId }
  if (item === 'failedDeliveries') {
    return (
      <Link to="/dashboard/b/$businessId/deliveries" params={params} search={{ state: 'dead' }}>
        {texts.look}
      </Link>
    )
  }
  if (item === 'refused' || item === 'pausedChannels') {
    if (!canRead) return null
    const [channel, ...others] = status.pausedChannels
    return item === 'refused' ? (
      <Link to="/dashboard/b/$businessId/live" params={params} search={{ outcome: 'refused' }}>
        {texts.look}
      </Link>
    ) : (
      <Link
        to="/dashboard/b/$businessId/settings/channels"
        params={params}
        search={channel !== undefined && others.length === 0 ? { channel } : {}}
      >
        {texts.toSettings}
      </Link>
    )
  }
  return isOperator ? <Link to="/dashboard/operations">{texts.toOperations}</Link> : null
}

function textOf(item: Item, { lateStores, reasons, deadLetters, failedDeliveries }: Status): string {
  const { attention } = textsOf('home')
  if (item === 'lateStores') return lateStores.map((store) => attention.lateStores[store]).join(' ')
  if (item === 'reasons') return reasons.join(' ')
  if (item === 'deadLetters') return attention.deadLetters(formatNumber(deadLetters))
  if (item === 'failedDeliveries') return attention.failedDeliveries(formatNumber(failedDeliveries))
  return attention[item]
}
