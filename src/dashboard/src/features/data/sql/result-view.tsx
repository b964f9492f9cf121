/** A result as a table or a chart, with a download as CSV. */
import { useMemo, useState } from 'react'
import { csvText } from '../../../csv.ts'
import { download } from '../../../download.ts'
import { formatNumber, formatOnClock } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Chart } from '../../../parts/chart/chart.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Result } from './queries.ts'
import { chartOf, isNumber } from './result-chart.ts'
import styles from './sql.module.css'

const COLUMN_PX = 130

export function ResultView({ result, isStale }: { result: Result; isStale: boolean }) {
  const texts = textsOf('sql')
  const [isChart, setChart] = useState(false)
  const { columns, rows, isCut, ms } = result
  const chart = useMemo(() => chartOf(result), [result])
  const table = useMemo(() => rows.map((cells, index) => ({ cells, index })), [rows])
  const save = () => {
    const day = new Date().toISOString().slice(0, 10)
    download(`query-${day}.csv`, csvText([columns.map(({ name }) => name), ...rows]))
  }
  return (
    <section aria-label={texts.result} aria-busy={isStale} className={`stack ${isStale ? styles['stale'] : ''}`}>
      <div className={styles['bar']}>
        <span className="muted" role="status">
          {texts.rows(formatNumber(rows.length), rows.length)} · {texts.took(formatNumber(ms / 1000))}
        </span>
        {isCut && <span className={styles['cut']}>{texts.cut}</span>}
        <span className={styles['gap']} />
        {chart !== null && (
          <Button size="small" kind="quiet" icon="chart" aria-pressed={isChart} onClick={() => setChart(!isChart)}>
            {texts.chart}
          </Button>
        )}
        {rows.length > 0 && (
          <Button size="small" kind="quiet" icon="import" onClick={save}>
            {texts.csv}
          </Button>
        )}
      </div>
      {isChart && chart !== null ? (
        <div className="card">
          <Chart
            label={texts.result}
            times={chart.times}
            starts={chart.starts}
            series={chart.series}
            height={300}
            formatAt={chart.hasClock ? formatOnClock.time : formatOnClock.day}
          />
        </div>
      ) : (
        <div className={styles['scroll']} tabIndex={0} role="group" aria-label={texts.result}>
          <div dir="ltr" style={{ minInlineSize: columns.length * COLUMN_PX }}>
            <Table
              label={texts.result}
              columns={columnsOf(columns)}
              rows={table}
              keyOf={({ index }) => String(index)}
              height={`min(60vh, ${(rows.length + 1) * 40 + 2}px)`}
              empty={<Empty icon="search" title={texts.none} />}
            />
          </div>
        </div>
      )}
    </section>
  )
}

interface Row {
  cells: readonly (string | null)[]
  index: number
}

const columnsOf = (columns: Result['columns']): Column<Row>[] =>
  columns.map(({ name, type }, at) => ({
    key: String(at),
    header: name,
    width: `minmax(${COLUMN_PX - 14}px, 1fr)`,
    align: isNumber(type) ? 'end' : 'start',
    cell: ({ cells }) => {
      const value = cells[at] ?? null
      return value === null ? (
        <span className="muted">NULL</span>
      ) : (
        <span className={`foreign ${isNumber(type) ? 'numeric' : ''}`} title={value.slice(0, 1000)}>
          {value.slice(0, 300)}
        </span>
      )
    },
  }))
