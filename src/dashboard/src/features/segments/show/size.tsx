/** Number of members, now and over time. */
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { formatNumber, formatOnClock } from '../../../format.ts'
import { Chart } from '../../../parts/chart/chart.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type HistoryDay, type Segment, type SegmentPath, historyQuery, isAwaited } from '../queries.ts'
import { MemberCount } from '../segment-status.tsx'
import { PERIODS, type Period, type SegmentSearch } from '../search.ts'
import styles from './segment.module.css'

const HEIGHT = 180
const DAY_MS = 86_400_000

export function Size({ path, segment }: { path: SegmentPath; segment: Segment }) {
  const texts = textsOf('segments')
  const { days = PERIODS[0] }: SegmentSearch = useSearch({ strict: false })
  const from = new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
  const isUnknown = isAwaited(segment)
  const { data, error, refetch } = useQuery({ ...historyQuery(path, from), enabled: !isUnknown })
  const sum = (of: (day: HistoryDay) => number) => data?.days.reduce((total, day) => total + of(day), 0)
  return (
    <Section title={texts.size} actions={<Periods chosen={days} />}>
      <Figures>
        <Figure label={texts.now}>
          <MemberCount segment={segment} />
        </Figure>
        <Figure label={texts.entered} note={texts.inPeriod}>
          <Sum value={sum(({ entered }) => entered)} />
        </Figure>
        <Figure label={texts.left} note={texts.inPeriod}>
          <Sum value={sum(({ left }) => left)} />
        </Figure>
      </Figures>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {isUnknown && <p className="muted">{texts.membersAwaited}</p>}
      {!isUnknown && data === undefined && error === null && <Loading lines={5} />}
      {data !== undefined && <SizeChart days={data.days} />}
    </Section>
  )
}

const Sum = ({ value }: { value: number | undefined }) => (value === undefined ? '–' : <Num value={value} />)

const timeOf = ({ day }: HistoryDay) => Date.parse(day) / 1000

function SizeChart({ days }: { days: HistoryDay[] }) {
  const texts = textsOf('segments')
  const times = useMemo(() => days.map(timeOf), [days])
  const series = [{ label: texts.members, values: days.map(({ members }) => members) }]
  return (
    <Chart
      label={texts.size}
      times={times}
      series={series}
      height={HEIGHT}
      format={formatNumber}
      formatAt={formatOnClock.day}
    />
  )
}

function Periods({ chosen }: { chosen: Period }) {
  const texts = textsOf('segments')
  const search: SegmentSearch = useSearch({ strict: false })
  return (
    <nav aria-label={texts.periodLabel} className={styles['periods']}>
      {PERIODS.map((days) => (
        <Link
          key={days}
          to="."
          search={{ ...search, days: days === PERIODS[0] ? undefined : days }}
          replace
          resetScroll={false}
          activeOptions={{ exact: true, includeSearch: true }}
          {...(days === chosen ? { 'aria-current': 'page' as const } : {})}
        >
          {texts.period(formatNumber(days))}
        </Link>
      ))}
    </nav>
  )
}
