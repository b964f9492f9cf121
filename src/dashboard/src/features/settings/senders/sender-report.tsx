import { useQuery } from '@tanstack/react-query'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Sender, type SenderReport, reportQuery } from './queries.ts'

type Day = SenderReport['days'][number]
const COUNTS = ['sent', 'delivered', 'bounced', 'complained', 'failed', 'unknown', 'retried'] as const

/** What became of its messages, the newest day first. */
export function Report({ businessId, sender }: { businessId: string; sender: Sender }) {
  const texts = textsOf('senders')
  const { data, error, isPending, refetch } = useQuery(reportQuery(businessId, sender))
  const columns: Column<Day>[] = [
    { key: 'day', header: texts.day, width: 'minmax(96px, 1fr)', cell: ({ day }) => <bdi>{day}</bdi> },
    ...COUNTS.map((name) => ({
      key: name,
      header: texts[name],
      width: 'minmax(60px, 1fr)',
      align: 'end' as const,
      isSecondary: name === 'retried' || name === 'unknown',
      cell: (day: Day) => <Num value={day[name]} />,
    })),
  ]
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />
  return (
    <section className="stack">
      <h3>{texts.report}</h3>
      <Table
        label={texts.report}
        columns={columns}
        rows={(data?.days ?? []).toReversed()}
        keyOf={({ day }) => day}
        isLoading={isPending}
        waitingRows={2}
        empty={<p className="muted">{texts.noReport}</p>}
        height="auto"
      />
    </section>
  )
}
