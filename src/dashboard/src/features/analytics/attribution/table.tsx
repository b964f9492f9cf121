/** The revenue and cost of each source, by one model or two. */
import { csvText } from '../../../csv.ts'
import { download } from '../../../download.ts'
import { formatMoney, formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Share } from '../../../parts/value/share.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from '../analytics.module.css'
import own from './attribution.module.css'
import { type Figures, type ShownRow, costOf, returnOf, sumOf } from './rows.ts'
import type { Key, Model } from './search.ts'

interface TableProps {
  rows: readonly ShownRow[]
  by: Key
  currency: string
  model: Model
  /** Rows of the second model. */
  beside?: { model: Model; rows: readonly ShownRow[] } | undefined
}

export function AttributionTable(props: TableProps) {
  const texts = textsOf('attribution')
  const { rows, by } = props
  const { columns, share } = columnsOf(props)
  return (
    <>
      <div className={styles['scroll']} tabIndex={0} role="group" aria-label={texts.title}>
        <table className={`${styles['table']} ${own['wide']}`}>
          <thead>
            <tr>
              <th scope="col">{texts.keys[by]}</th>
              {columns.map(({ head }) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
              <th scope="col">{share.head}</th>
            </tr>
          </thead>
          <tbody>
            <tr className={styles['total']}>
              <th scope="row">{textsOf('analytics').total}</th>
              {columns.map(({ head, total, show }) => (
                <td key={head}>{total === null ? '–' : show(total)}</td>
              ))}
              <td />
            </tr>
            {rows.map((row) => (
              <tr key={row.id}>
                <th scope="row">
                  <bdi className="foreign">{row.name}</bdi>
                </th>
                {columns.map(({ head, read, show }) => {
                  const value = read(row)
                  return <td key={head}>{value === null ? '–' : show(value)}</td>
                })}
                <td className={styles['bar']}>
                  <Share share={share.read(row)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="row">
        <Button onClick={() => download('attribution.csv', csvOf(props))}>{texts.download}</Button>
      </div>
    </>
  )
}

interface Column {
  head: string
  read: (row: ShownRow) => number | null
  total: number | null
  show: (value: number) => string
}

function columnsOf({ rows, currency, model, beside }: TableProps) {
  const { heads, models, ofModel, shareOf } = textsOf('attribution')
  const money = (value: number) => formatMoney(value, currency)
  const total = sumOf(rows)
  const column = (head: string, show: Column['show'], read: (figures: Figures) => number | null): Column => ({
    head: beside === undefined ? head : ofModel(head, models[model]),
    read,
    total: read(total),
    show,
  })
  const others = new Map(beside?.rows.map((row) => [row.id, row]))
  const second = ({
    head,
    show,
    read,
  }: {
    head: string
    show: Column['show']
    read: (figures: Figures) => number | null
  }): Column[] => {
    if (beside === undefined) return []
    const readOther = (row: ShownRow) => read(others.get(row.id) ?? { conversions: 0, revenue: 0, spend: row.spend })
    return [{ head: ofModel(head, models[beside.model]), show, read: readOther, total: read(sumOf(beside.rows)) }]
  }
  const both = (head: string, show: Column['show'], read: (figures: Figures) => number | null) => [
    column(head, show, read),
    ...second({ head, show, read }),
  ]
  const hasSpend = rows.some(({ spend }) => spend !== null)
  const columns = [
    ...both(heads.conversions, formatNumber, ({ conversions }) => conversions),
    ...both(heads.revenue, money, ({ revenue }) => revenue),
    ...(hasSpend
      ? [
          { ...column(heads.spend, money, ({ spend }) => spend), head: heads.spend },
          ...both(heads.returnOnSpend, formatNumber, returnOf),
          // Only of the first model: the table is wide enough.
          { ...column(heads.cost, money, costOf), head: heads.cost },
        ]
      : []),
  ]
  const of = total.revenue > 0 ? ('revenue' as const) : ('conversions' as const)
  const share = (row: ShownRow) => (total[of] > 0 ? Math.max(0, row[of]) / total[of] : 0)
  return { columns, share: { head: shareOf[of], read: share } }
}

function csvOf(props: TableProps): string {
  const texts = textsOf('attribution')
  const { columns } = columnsOf(props)
  const { rows, by, currency } = props
  return csvText([
    [texts.keys[by], textsOf('analytics').currency, ...columns.map(({ head }) => head)],
    ...rows.map((row) => [row.name, currency, ...columns.map(({ read }) => read(row))]),
  ])
}
