/** The most viewed pages. */
import { useQuery } from '@tanstack/react-query'
import { formatPercent } from '../../../format.ts'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import { Cancelled, isCancelled } from '../cancelled.tsx'
import { CsvButton } from '../csv-button.tsx'
import { formatSeconds } from '../format-seconds.ts'
import { type WebPageRow, pagesQuery } from './queries.ts'

const MOST = 100

interface PageTableProps {
  businessId: string
  period: { from: string; to?: string }
}

export function PageTable({ businessId, period }: PageTableProps) {
  const texts = textsOf('web')
  const asked = { ...period, top: MOST }
  const query = useQuery(pagesQuery(businessId, asked))
  const { data, error, isPending, isPlaceholderData, refetch } = query
  const pages = data?.pages ?? []
  const rows = () => [
    [texts.page, ...KEYS.map((key) => texts.units[key])],
    ...pages.map((row) => [row.page, ...KEYS.map((key) => row[key])]),
  ]
  return (
    <Section
      title={texts.pages}
      intro={texts.pagesIntro}
      actions={<SaveToBoard kind="pages" query={asked} title={texts.pages} />}
    >
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {isCancelled(query) && <Cancelled onRetry={refetch} />}
      {error === null && !isCancelled(query) && (
        <div className="stack" aria-busy={isPlaceholderData}>
          <Table
            label={texts.pages}
            columns={columnsOf()}
            rows={pages}
            keyOf={({ page }) => page}
            isLoading={isPending}
            height={pages.length > SCROLLS ? '440px' : undefined}
            empty={<Empty icon="chart" title={texts.noPages} />}
          />
          {pages.length > 0 && <CsvButton name="pages" rows={rows} />}
        </div>
      )}
    </Section>
  )
}

/** Number of rows above which the table scrolls. */
const SCROLLS = 10
const KEYS = ['views', 'visitors', 'entries', 'exits', 'seconds', 'depth'] as const

const SHOWN: Record<(typeof KEYS)[number], (row: WebPageRow) => React.ReactNode> = {
  views: ({ views }) => <Num value={views} />,
  visitors: ({ visitors }) => <Num value={visitors} />,
  entries: ({ entries }) => <Num value={entries} />,
  exits: ({ exits }) => <Num value={exits} />,
  seconds: ({ seconds }) => <span className="numeric">{formatSeconds(seconds)}</span>,
  depth: ({ depth }) => <span className="numeric">{formatPercent(depth / 100)}</span>,
}
/** Columns that stay on a narrow screen. */
const FIRST = new Set<string>(['views', 'seconds'])

function columnsOf(): Column<WebPageRow>[] {
  const texts = textsOf('web')
  return [
    {
      key: 'page',
      header: texts.page,
      width: 'minmax(110px, 4fr)',
      cell: ({ page }) => (
        <bdi className="foreign" title={page}>
          {page}
        </bdi>
      ),
    },
    ...KEYS.map((key): Column<WebPageRow> => ({
      key,
      header: texts.columns[key],
      width: 'minmax(76px, 1fr)',
      align: 'end',
      isSecondary: !FIRST.has(key),
      cell: SHOWN[key],
    })),
  ]
}
