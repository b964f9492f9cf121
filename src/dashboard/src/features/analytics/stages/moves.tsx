/** Moves between stages: from stage to stage in the whole time range, and over time. */
import { useMemo } from 'react'
import { Chart } from '../../../parts/chart/chart.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { STAGES } from '../../rules/stages.ts'
import styles from '../analytics.module.css'
import { CsvButton } from '../csv-button.tsx'
import { formatStart } from '../format-start.ts'
import type { Stages } from '../journey-queries.ts'
import { localStart, shownTime } from '../range.ts'

type Move = Stages['moves'][number]

const HEIGHT = 240

export function Moves({ data }: { data: Stages }) {
  const texts = textsOf('journeys')
  const { buckets, interval, timezone } = data
  // The chart shows only the first series, so the most frequent moves come first.
  const moves = data.moves.toSorted((one, other) => other.total - one.total)
  const times = useMemo(
    () => buckets.map((start) => shownTime(start, interval, timezone)),
    [buckets, interval, timezone],
  )
  const rows = () => [
    [texts.start, ...moves.map(nameOfMove)],
    ...buckets.map((start, at) => [
      localStart(start, interval, timezone),
      ...moves.map(({ points }) => points[at] ?? 0),
    ]),
  ]
  return (
    <>
      <MoveTable moves={moves} />
      <Chart
        label={texts.movesOverTime}
        times={times}
        starts={buckets}
        series={moves.map((move) => ({ label: nameOfMove(move), values: move.points, total: move.total }))}
        height={HEIGHT}
        formatAt={formatStart(interval)}
        totals={textsOf('analytics').total}
      />
      <CsvButton name="moves" rows={rows} />
    </>
  )
}

function nameOfMove({ from, to }: Move): string {
  const texts = textsOf('journeys')
  const { stages } = textsOf('contacts')
  return from === null ? texts.beganIn(stages[to]) : texts.move(stages[from], stages[to])
}

/** One row for each stage that contacts came from. The first row is for new contacts. */
function MoveTable({ moves }: { moves: readonly Move[] }) {
  const texts = textsOf('journeys')
  const { stages } = textsOf('contacts')
  const totalOf = (from: Move['from'], to: Move['to']) =>
    moves.find((move) => move.from === from && move.to === to)?.total ?? 0
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={texts.fromTo}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{texts.fromTo}</th>
            {STAGES.map((to) => (
              <th key={to} scope="col">
                {stages[to]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[null, ...STAGES].map((from) => (
            <tr key={from ?? 'new'}>
              <th scope="row">{from === null ? texts.newContact : stages[from]}</th>
              {STAGES.map((to) => (
                <td key={to}>{from === to ? '–' : <Num value={totalOf(from, to)} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
