/** The senders of all channels: their state, today's budget and the last look at their records. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { NewSender } from './new-sender.tsx'
import { PauseButton } from './pause-button.tsx'
import { type Sender, sendersQuery } from './queries.ts'
import { SenderDialog } from './sender-dialog.tsx'

const nameOf = ({ channel, key }: Sender): string => `${channel} ${key}`

export function SendersPage() {
  const texts = textsOf('senders')
  const { id: businessId } = useBusiness()
  const canChange = useCan('destinations:write')
  const { data, error, isPending, refetch } = useQuery(sendersQuery(businessId))
  const [openedName, setOpened] = useState<string | null>(null)
  const [isCreating, setCreating] = useState(false)
  const senders = data?.senders ?? []
  const opened = senders.find((one) => nameOf(one) === openedName)
  const actions = canChange && (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      {texts.create}
    </Button>
  )
  return (
    <Page title={texts.title} intro={texts.intro} actions={actions}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {error === null && (
        <Table
          label={texts.title}
          columns={columnsOf(businessId, canChange)}
          rows={senders}
          keyOf={nameOf}
          onOpen={(one) => setOpened(nameOf(one))}
          isLoading={isPending}
          waitingRows={5}
          height="auto"
        />
      )}
      {opened !== undefined && (
        <SenderDialog businessId={businessId} senders={senders} sender={opened} onClose={() => setOpened(null)} />
      )}
      {isCreating && <NewSender businessId={businessId} senders={senders} onClose={() => setCreating(false)} />}
    </Page>
  )
}

const KINDS: Record<Sender['status'], BadgeKind> = { active: 'good', paused: 'warn', unreachable: 'bad' }

function columnsOf(businessId: string, canChange: boolean): Column<Sender>[] {
  const texts = textsOf('senders')
  const { channels } = textsOf('campaigns')
  const columns: Column<Sender>[] = [
    {
      key: 'key',
      header: texts.key,
      width: 'minmax(120px, 2fr)',
      cell: ({ key, isDefault }) => (
        <span className="row">
          <bdi className="foreign">{key}</bdi>
          {isDefault && <Badge>{texts.isDefault}</Badge>}
        </span>
      ),
    },
    { key: 'channel', header: texts.channel, width: 'minmax(80px, 1fr)', cell: ({ channel }) => channels[channel] },
    {
      key: 'from',
      header: texts.from,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: ({ from }) => <bdi className="foreign">{from?.address ?? ''}</bdi>,
    },
    {
      key: 'state',
      header: texts.state,
      width: 'minmax(100px, 1fr)',
      cell: ({ status, pauseReason }) => (
        <span title={pauseReason ?? undefined}>
          <Badge kind={KINDS[status]}>{texts[status]}</Badge>
        </span>
      ),
    },
    {
      key: 'budget',
      header: texts.budget,
      width: 'minmax(100px, 1fr)',
      isSecondary: true,
      cell: ({ dailyBudget, usedToday }) =>
        dailyBudget === null || usedToday === null ? (
          <span className="muted">{texts.unlimited}</span>
        ) : (
          <span>
            <Num value={usedToday} /> / <Num value={dailyBudget} />
          </span>
        ),
    },
    {
      key: 'check',
      header: texts.check,
      width: 'minmax(110px, 1fr)',
      isSecondary: true,
      cell: (sender) => <CheckBadge sender={sender} />,
    },
  ]
  if (!canChange) return columns
  const pause: Column<Sender> = {
    key: 'pause',
    header: texts.pause,
    isHeaderHidden: true,
    width: '130px',
    align: 'end',
    cell: (sender) => <PauseButton businessId={businessId} sender={sender} size="small" />,
  }
  return [...columns, pause]
}

function CheckBadge({ sender: { channel, check } }: { sender: Sender }) {
  const texts = textsOf('senders')
  if (channel !== 'email') return null
  if (check === null) return <span className="muted">{texts.unchecked}</span>
  const bad = check.findings.filter(({ state }) => state === 'missing' || state === 'wrong')
  if (bad.length === 0) return <Badge kind="good">{texts.allGood}</Badge>
  return <Badge kind="bad">{texts.someBad(bad.map(({ record }) => record.toUpperCase()).join(', '))}</Badge>
}
