/** Cohorts, oldest first, with a value for each interval since they began: a triangle. */
import { formatNumber } from '../../format.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './analytics.module.css'

export interface Cohort {
  name: string
  /** Facts about the whole cohort, in the order of `heads`. */
  facts: readonly string[]
  cells: readonly CohortCell[]
}

export interface CohortCell {
  text: string
  /** Between 0 and 1. Null: not shaded. */
  share: number | null
  /** Shown on hover. */
  detail?: string
}

interface CohortTableProps {
  label: string
  heads: readonly string[]
  cohorts: readonly Cohort[]
}

const SHADES = 5

export function CohortTable({ label, heads, cohorts }: CohortTableProps) {
  const texts = textsOf('analytics')
  const width = Math.max(0, ...cohorts.map(({ cells }) => cells.length))
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={label}>
      <table className={styles['table']}>
        <thead>
          <tr>
            <th scope="col">{texts.cohort}</th>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
            {Array.from({ length: width }, (_, at) => (
              <th key={at} scope="col">
                {formatNumber(at)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(({ name, facts, cells }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {facts.map((fact, at) => (
                <td key={at}>{fact}</td>
              ))}
              {cells.map(({ text, share, detail }, at) => (
                <td key={at} title={detail} className={shadeOf(share)}>
                  {text}
                </td>
              ))}
              {/* Fill the row, so that screen readers read the same number of cells in each row. */}
              {cells.length < width && <td colSpan={width - cells.length} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const shadeOf = (share: number | null): string | undefined =>
  share === null || share <= 0 ? undefined : styles[`shade${Math.min(SHADES, Math.ceil(share * SHADES))}`]
