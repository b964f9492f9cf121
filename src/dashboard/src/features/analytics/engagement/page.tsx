/** How engaged contacts are now, and whose engagement changed within a week. */
import { useQuery } from '@tanstack/react-query'
import { formatNumber } from '../../../format.ts'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { Figure, Figures } from '../../../parts/value/figure.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Share } from '../../../parts/value/share.tsx'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import styles from '../analytics.module.css'
import { CsvButton } from '../csv-button.tsx'
import { AnalyticsPage, Result } from '../frame.tsx'
import { type Engagement, engagementQuery } from '../journey-queries.ts'
import { Movers } from './movers.tsx'

export function EngagementPage() {
  const texts = textsOf('journeys')
  const { id: businessId } = useBusiness()
  const canSee = useCan('contacts:read')
  const query = useQuery(engagementQuery(businessId))
  return (
    <AnalyticsPage title={textsOf('analytics').tabs.engagement}>
      <Section
        title={texts.scores}
        intro={texts.scoresIntro}
        actions={<SaveToBoard kind="engagement" query={{}} title={textsOf('analytics').tabs.engagement} />}
      >
        <Result
          query={query}
          isEmpty={({ median }) => median === null}
          empty={
            <Empty icon="chart" title={texts.noScoresTitle}>
              {texts.noScores}
            </Empty>
          }
        >
          {(data) => <Scores data={data} />}
        </Result>
      </Section>
      {canSee && query.data !== undefined && query.data.median !== null && <Movers businessId={businessId} />}
    </AnalyticsPage>
  )
}

function Scores({ data: { contacts, inactive, median, ranges } }: { data: Engagement }) {
  const texts = textsOf('journeys')
  const active = ranges.reduce((sum, one) => sum + one.contacts, 0)
  const contactsText = textsOf('analytics').contacts
  const rows = () => [[texts.score, contactsText], ...ranges.map((one) => [`${one.from}–${one.to}`, one.contacts])]
  return (
    <>
      <Figures>
        <Figure label={contactsText}>
          <Num value={contacts} />
        </Figure>
        <Figure label={texts.withoutScore} note={texts.withoutScoreNote}>
          <Num value={inactive} />
        </Figure>
        <Figure label={texts.median} note={texts.medianNote}>
          {median === null ? '–' : <Num value={median} />}
        </Figure>
      </Figures>
      <div className={styles['scroll']} tabIndex={0} role="group" aria-label={texts.scores}>
        <table className={styles['table']}>
          <thead>
            <tr>
              <th scope="col">{texts.score}</th>
              <th scope="col">{contactsText}</th>
              <th scope="col">{texts.share}</th>
            </tr>
          </thead>
          <tbody>
            {ranges.map(({ from, to, contacts: count }) => (
              <tr key={from}>
                <th scope="row">
                  <bdi>
                    {formatNumber(from)}–{formatNumber(to)}
                  </bdi>
                </th>
                <td>
                  <Num value={count} />
                </td>
                <td className={styles['bar']}>
                  <Share share={active === 0 ? 0 : count / active} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <CsvButton name="engagement" rows={rows} />
    </>
  )
}
