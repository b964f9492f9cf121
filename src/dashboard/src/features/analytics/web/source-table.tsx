/** Sources of sessions. */
import { useQuery } from '@tanstack/react-query'
import { formatPercent } from '../../../format.ts'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { Cancelled, isCancelled } from '../cancelled.tsx'
import { CsvButton } from '../csv-button.tsx'
import { formatSeconds } from '../format-seconds.ts'
import { Controls, useChange } from '../frame.tsx'
import { SOURCE_KEYS, type WebSearch } from '../search.ts'
import { type WebSource, sourcesQuery } from './queries.ts'

const MOST = 100
/** Number of rows above which the table scrolls. */
const SCROLLS = 10

type By = NonNullable<WebSearch['by']>

interface SourceTableProps {
  businessId: string
  period: { from: string; to?: string }
  by: By
}

export function SourceTable({ businessId, period, by }: SourceTableProps) {
  const texts = textsOf('web')
  const change = useChange<WebSearch>()
  const asked = { ...period, by, top: MOST }
  const query = useQuery(sourcesQuery(businessId, asked))
  const { data, error, isPending, isPlaceholderData, refetch } = query
  const sources = data?.sources ?? []
  const rows = () => [
    [texts.by[by], ...KEYS.map((key) => texts.units[key])],
    ...sources.map((row) => [row.value, ...KEYS.map((key) => row[key])]),
  ]
  return (
    <Section title={texts.sources} actions={<SaveToBoard kind="sources" query={asked} title={texts.sources} />}>
      <Controls>
        <SelectField
          name="by"
          label={texts.listBy}
          value={by}
          options={SOURCE_KEYS.map((value) => ({ value, label: texts.by[value] }))}
          onChange={({ target: { value } }) => {
            const chosen = SOURCE_KEYS.find((one) => one === value)
            change({ by: chosen === 'source' ? undefined : chosen })
          }}
        />
      </Controls>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {isCancelled(query) && <Cancelled onRetry={refetch} />}
      {error === null && !isCancelled(query) && (
        <div className="stack" aria-busy={isPlaceholderData}>
          <Table
            label={texts.sources}
            columns={columnsOf(data?.by ?? by)}
            rows={sources}
            keyOf={({ value }) => value ?? ''}
            isLoading={isPending}
            height={sources.length > SCROLLS ? '440px' : undefined}
            empty={<Empty icon="chart" title={texts.noSessions} />}
          />
          {sources.length > 0 && <CsvButton name="sources" rows={rows} />}
        </div>
      )}
    </Section>
  )
}

const KEYS = ['sessions', 'visitors', 'bounceRate', 'sessionSeconds'] as const
const SHOWN: Record<(typeof KEYS)[number], (row: WebSource) => React.ReactNode> = {
  sessions: ({ sessions }) => <Num value={sessions} />,
  visitors: ({ visitors }) => <Num value={visitors} />,
  bounceRate: ({ bounceRate }) => (bounceRate === null ? '–' : formatPercent(bounceRate)),
  sessionSeconds: ({ sessionSeconds }) => (sessionSeconds === null ? '–' : formatSeconds(sessionSeconds)),
}
/** Columns that stay on a narrow screen. */
const FIRST = new Set<string>(['sessions', 'bounceRate'])

function columnsOf(by: By): Column<WebSource>[] {
  const texts = textsOf('web')
  return [
    {
      key: 'value',
      header: texts.by[by],
      width: 'minmax(96px, 3fr)',
      cell: ({ value }) =>
        value === null ? (
          <span className="muted">{texts.without[by]}</span>
        ) : (
          <bdi className="foreign" title={value}>
            {value}
          </bdi>
        ),
    },
    ...KEYS.map((key): Column<WebSource> => ({
      key,
      header: texts.figures[key],
      width: 'minmax(88px, 1fr)',
      align: 'end',
      isSecondary: !FIRST.has(key),
      cell: (row) => <span className="numeric">{SHOWN[key](row)}</span>,
    })),
  ]
}
