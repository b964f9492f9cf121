/** Number of contacts in each stage now: the same numbers as in the list of contacts. */
import { Link } from '@tanstack/react-router'
import { Share } from '../../../parts/value/share.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from '../analytics.module.css'
import { CsvButton } from '../csv-button.tsx'
import type { Stages } from '../journey-queries.ts'

export function StageCounts({ stages }: Pick<Stages, 'stages'>) {
  const texts = textsOf('journeys')
  const { contacts: contactsText } = textsOf('analytics')
  const { stages: names } = textsOf('contacts')
  const { id: businessId } = useBusiness()
  const all = stages.reduce((sum, { contacts }) => sum + contacts, 0)
  const rows = () => [[texts.stage, contactsText], ...stages.map(({ stage, contacts }) => [names[stage], contacts])]
  return (
    <>
      <div className={styles['scroll']} tabIndex={0} role="group" aria-label={texts.stagesNow}>
        <table className={styles['table']}>
          <thead>
            <tr>
              <th scope="col">{texts.stage}</th>
              <th scope="col">{contactsText}</th>
              <th scope="col">{texts.share}</th>
            </tr>
          </thead>
          <tbody>
            {stages.map(({ stage, contacts }) => (
              <tr key={stage}>
                <th scope="row">
                  <Link to="/dashboard/b/$businessId/contacts" params={{ businessId }} search={{ stage }}>
                    {names[stage]}
                  </Link>
                </th>
                <td>
                  <Num value={contacts} />
                </td>
                <td className={styles['bar']}>{all === 0 ? '–' : <Share share={contacts / all} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CsvButton name="stages" rows={rows} />
    </>
  )
}
