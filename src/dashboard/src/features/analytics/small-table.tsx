/** A table of a few rows, within the height of its card. */
import type { ReactNode } from 'react'
import styles from './analytics.module.css'

interface SmallTableProps {
  label: string
  heads: readonly string[]
  /** The first cell names the row. */
  rows: readonly (readonly ReactNode[])[]
}

export function SmallTable({ label, heads, rows }: SmallTableProps) {
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={label}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {heads.map((head, at) => (
              <th key={at} scope="col">
                <bdi>{head}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells], at) => (
            <tr key={at}>
              <th scope="row">
                <bdi className="foreign">{name}</bdi>
              </th>
              {cells.map((one, column) => (
                <td key={column}>{one}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
