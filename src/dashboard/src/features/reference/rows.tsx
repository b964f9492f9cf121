import type { ReactNode } from 'react'
import styles from './reference.module.css'

interface RowsProps {
  label: string
  heads: readonly string[]
  rows: readonly (readonly ReactNode[])[]
}

/** A table from the API description. It is in English, whatever the language of the page. */
export function Rows({ label, heads, rows }: RowsProps) {
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={label}>
      <table className={styles['rows']} dir="ltr">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody lang="en">
          {rows.map((cells, at) => (
            <tr key={at}>
              {cells.map((cell, index) => (
                <td key={index}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
