/** The current numbers. */
import type { ReactNode } from 'react'
import { formatNumber, formatPercent } from '../../format.ts'
import { Figure, Figures as FigureList } from '../../parts/value/figure.tsx'
import { Skeleton } from '../../parts/feedback/loading.tsx'
import { Section } from '../../parts/page/page.tsx'
import { Num } from '../../parts/value/values.tsx'
import { textsOf } from '../../texts/index.ts'
import { Outcomes } from './outcomes.tsx'
import type { Status } from './queries.ts'

export function Figures({ businessId, status }: { businessId: string; status: Status | undefined }) {
  const texts = textsOf('home')
  const { minute = null, backlogSeconds = null, timelineSeconds = null, deadLetters = 0 } = status ?? {}
  const figures: [label: string, value: ReactNode, note: string][] = [
    [texts.requests, minute && <Num value={minute.requests} />, texts.lastMinute],
    [texts.accepted, minute && <Accepted outcomes={minute.outcomes} />, texts.lastMinute],
    [texts.latency, minute?.ms && texts.ms(formatNumber(Math.round(minute.ms.p95 * 10) / 10)), texts.p95],
    [texts.backlog, secondsOf(backlogSeconds), texts.backlogNote],
    [texts.timeline, secondsOf(timelineSeconds), texts.timelineNote],
    [texts.deadLetters, <Num key="dead" value={deadLetters} />, texts.deadLettersNote],
  ]
  return (
    <Section title={texts.now}>
      <FigureList>
        {figures.map(([label, value, note]) => (
          <Figure key={label} label={label} note={note}>
            {status === undefined ? <Skeleton width="60px" /> : (value ?? '–')}
          </Figure>
        ))}
      </FigureList>
      {minute !== null && <Outcomes businessId={businessId} counts={minute.outcomes} />}
    </Section>
  )
}

function Accepted({ outcomes }: { outcomes: NonNullable<Status['minute']>['outcomes'] }) {
  const { done, warned, queued, refused, limited, failed } = outcomes
  const accepted = done + warned + queued
  const all = accepted + refused + limited + failed
  return all === 0 ? '–' : <span className="numeric">{formatPercent(accepted / all)}</span>
}

function secondsOf(seconds: number | null): string | null {
  return seconds === null ? null : textsOf('home').seconds(formatNumber(Math.round(seconds * 10) / 10))
}
