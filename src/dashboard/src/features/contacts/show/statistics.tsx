/** How often each event occurred, and when it last occurred. */
import { Section } from '../../../parts/page/page.tsx'
import { Num, Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './contact.module.css'
import type { Contact } from './queries.ts'

export function Statistics({ contact: { events } }: { contact: Contact }) {
  const texts = textsOf('contacts')
  if (events.length === 0) return null
  return (
    <Section title={texts.statistics}>
      <table className={styles['facts']}>
        <thead>
          <tr>
            <th scope="col">{texts.event}</th>
            <th scope="col">{texts.times}</th>
            <th scope="col">{texts.last}</th>
          </tr>
        </thead>
        <tbody>
          {events.map(({ event, count, lastAt }) => (
            <tr key={event}>
              <th scope="row">
                <bdi>{event}</bdi>
              </th>
              <td>
                <Num value={count} />
              </td>
              <td>
                <Time at={lastAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}
