/** Today compared with yesterday, and the last 30 days. */
import { useMemo } from 'react'
import { formatOnClock } from '../../format.ts'
import { Chart } from '../../parts/chart/chart.tsx'
import { Figure, Figures } from '../../parts/value/figure.tsx'
import { Loading } from '../../parts/feedback/loading.tsx'
import { Section } from '../../parts/page/page.tsx'
import { Money, Num } from '../../parts/value/values.tsx'
import { textsOf } from '../../texts/index.ts'
import styles from './home.module.css'
import type { Day } from './queries.ts'

const HEIGHT = 180
const timeOf = ({ day }: Day) => Date.parse(day) / 1000

export function Days({ days }: { days: Day[] | undefined }) {
  const texts = textsOf('home')
  if (days === undefined) {
    return (
      <Section title={texts.today}>
        <Loading lines={3} />
      </Section>
    )
  }
  return (
    <>
      <Today days={days} />
      <div className={styles['charts']}>
        <Section title={texts.eventsByDay}>
          <DayChart label={texts.events} days={days} valueOf={({ events }) => events} />
        </Section>
        <Section title={texts.contactsByDay}>
          <DayChart label={texts.newContacts} days={days} valueOf={({ contacts }) => contacts} />
        </Section>
        {currenciesOf(days).map((currency) => (
          <Section key={currency} title={texts.revenueByDay(currency)}>
            <DayChart
              label={texts.revenue(currency)}
              days={days}
              valueOf={({ revenue }) => (revenue === null ? null : (revenue[currency] ?? 0))}
            />
          </Section>
        ))}
      </div>
    </>
  )
}

const MAX_CURRENCIES = 4

/** Returns the currencies that have revenue on most days, sorted by name. */
function currenciesOf(days: Day[]): string[] {
  const used = days.flatMap(({ revenue }) => Object.keys(revenue ?? {}))
  const daysOf = (currency: string) => used.filter((one) => one === currency).length
  return [...new Set(used)]
    .toSorted((a, b) => daysOf(b) - daysOf(a))
    .slice(0, MAX_CURRENCIES)
    .toSorted()
}

function Today({ days }: { days: Day[] }) {
  const texts = textsOf('home')
  const today = days.at(-1)
  const yesterday = days.at(-2)
  if (today === undefined || yesterday === undefined) return null
  const note = (value: React.ReactNode) => (
    <>
      {texts.yesterday} {value}
    </>
  )
  const number = (value: number | null) => (value === null ? '–' : <Num value={value} />)
  return (
    <Section title={texts.today}>
      <Figures>
        <Figure label={texts.newContacts} note={note(number(yesterday.contacts))}>
          {number(today.contacts)}
        </Figure>
        <Figure label={texts.events} note={note(number(yesterday.events))}>
          {number(today.events)}
        </Figure>
        {currenciesOf(days).map((currency) => (
          <Figure
            key={currency}
            label={texts.revenue(currency)}
            note={note(<Money amount={yesterday.revenue?.[currency] ?? 0} currency={currency} />)}
          >
            <Money amount={today.revenue?.[currency] ?? 0} currency={currency} />
          </Figure>
        ))}
      </Figures>
    </Section>
  )
}

interface DayChartProps {
  label: string
  days: Day[]
  valueOf: (day: Day) => number | null
}

function DayChart({ label, days, valueOf }: DayChartProps) {
  const times = useMemo(() => days.map(timeOf), [days])
  const series = [{ label, values: days.map(valueOf) }]
  return <Chart label={label} times={times} series={series} kind="bars" height={HEIGHT} formatAt={formatOnClock.day} />
}
