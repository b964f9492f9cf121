/** The contacts whose score rose or fell most within a week. Requires permission to see contacts. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { locale } from '../../../format.ts'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { ContactCell } from '../../contacts/links.ts'
import { Cancelled, isCancelled } from '../cancelled.tsx'
import { type Mover, moversQuery } from '../journey-queries.ts'
import styles from './engagement.module.css'

const WAITING_ROWS = 5
const signed = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' })

export function Movers({ businessId }: { businessId: string }) {
  const texts = textsOf('journeys')
  const query = useQuery(moversQuery(businessId))
  const { data, error, isPending, refetch } = query
  const navigate = useNavigate()
  const common = {
    columns: columnsOf(businessId),
    keyOf: ({ contactId }: Mover) => contactId,
    onOpen: ({ contactId }: Mover) =>
      void navigate({ to: '/dashboard/b/$businessId/contacts/$contactId', params: { businessId, contactId } }),
    isLoading: isPending,
    waitingRows: WAITING_ROWS,
  }
  return (
    <Section title={texts.movers} intro={texts.moversIntro}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {isCancelled(query) && <Cancelled onRetry={refetch} />}
      {error === null && !isCancelled(query) && (
        <div className={styles['movers']}>
          {(['risen', 'fallen'] as const).map((which) => (
            <div key={which} className="stack">
              <h3>{texts[which]}</h3>
              <Table
                {...common}
                label={texts[which]}
                rows={data?.[which] ?? []}
                empty={<Empty icon="chart" title={texts.noMovers} />}
              />
            </div>
          ))}
        </div>
      )}
    </Section>
  )
}

function columnsOf(businessId: string): Column<Mover>[] {
  const texts = textsOf('journeys')
  return [
    {
      key: 'contact',
      header: textsOf('segments').contact,
      width: 'minmax(84px, 2fr)',
      cell: (row) => <ContactCell businessId={businessId} contactId={row.contactId} name={row.name} />,
    },
    {
      key: 'before',
      header: texts.before,
      width: 'minmax(62px, 1fr)',
      align: 'end',
      cell: ({ before }) => <Num value={before} />,
    },
    {
      key: 'score',
      header: texts.now,
      width: 'minmax(52px, 1fr)',
      align: 'end',
      cell: ({ score }) => <Num value={score} />,
    },
    {
      key: 'change',
      header: texts.change,
      width: 'minmax(72px, 1fr)',
      align: 'end',
      cell: ({ score, before }) => (
        <bdi dir="ltr" className="numeric">
          {signed.format(score - before)}
        </bdi>
      ),
    },
  ]
}
