/** Preview of a file, and of its rejected rows. */
import { formatNumber } from '../../../format.ts'
import { textsOf } from '../../../texts/index.ts'
import analytics from '../analytics.module.css'
import styles from './attribution.module.css'
import type { SpendFile } from './queries.ts'

const OTHERS = ['channel', 'source', 'campaign', 'amount', 'currency'] as const
const SHOWN = 10

export function FilePreview({ file }: { file: SpendFile }) {
  const texts = textsOf('attribution')
  const { columns, read, rows, examples, refused, refusedCount } = file
  return (
    <div className="stack">
      <p role="status">
        {texts.read(formatNumber(read), formatNumber(refusedCount))} {rows < read && texts.addedUp(formatNumber(rows))}
      </p>
      <p className="muted small">
        {texts.columns}:{' '}
        {columns.map(({ field, column }, at) => (
          <span key={field}>
            {at > 0 && ' · '}
            {texts.fields[field]}: <bdi className="foreign">{column}</bdi>
          </span>
        ))}
      </p>
      {refusedCount > 0 && (
        <section aria-label={texts.refused}>
          <h3 className="small">{texts.refused}</h3>
          <ul className={styles['refused']}>
            {refused.slice(0, SHOWN).map(({ line, error }) => (
              <li key={line}>
                <span className="muted">{texts.line(formatNumber(line))}</span> <bdi className="foreign">{error}</bdi>
              </li>
            ))}
            {refusedCount > SHOWN && <li className="muted">{texts.moreRefused(formatNumber(refusedCount - SHOWN))}</li>}
          </ul>
        </section>
      )}
      {examples.length > 0 && (
        <div className={analytics['scroll']} tabIndex={0} role="group" aria-label={texts.examples}>
          <table className={`${analytics['table']} ${styles['examples']}`}>
            <thead>
              <tr>
                {(['day', ...OTHERS] as const).map((field) => (
                  <th key={field} scope="col">
                    {texts.fields[field]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {examples.map((row, at) => (
                <tr key={at}>
                  <th scope="row">{row.day}</th>
                  {OTHERS.map((field) => (
                    <td key={field}>
                      <bdi className="foreign">{row[field]}</bdi>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}
