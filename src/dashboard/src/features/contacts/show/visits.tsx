/** What the contact's browsers did on web pages: one row for each visit. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './contact.module.css'
import { type ContactPath, type Visit, visitsQuery } from './queries.ts'

export function Visits({ path }: { path: ContactPath }) {
  const texts = textsOf('contacts')
  const visits = useInfiniteQuery(visitsQuery(path))
  const shown = visits.data?.pages.flatMap((page) => page.visits) ?? []
  return (
    <Section title={texts.visits}>
      <ErrorBox error={visits.error} onRetry={() => void visits.refetch()} />
      {visits.isPending && <Loading />}
      {visits.data !== undefined && shown.length === 0 && <p className="muted">{texts.noVisits}</p>}
      <ol className={styles['timeline']}>
        {shown.map((visit) => (
          <VisitRow key={`${visit.visitorId} ${visit.startedAt}`} visit={visit} />
        ))}
      </ol>
      {visits.hasNextPage && (
        <Button isPending={visits.isFetchingNextPage} onClick={() => void visits.fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Section>
  )
}

function VisitRow({ visit }: { visit: Visit }) {
  const texts = textsOf('contacts')
  const { entryUrl, exitUrl, referrer, pages, activeMs, startedAt } = visit
  return (
    <li>
      <details>
        <summary>
          <bdi className="foreign">{entryUrl}</bdi>
          <span className="muted small">
            {texts.pages(formatNumber(pages))} · {texts.minutes(formatNumber(Math.round(activeMs / 60_000)))} ·{' '}
            <Time at={startedAt} />
          </span>
        </summary>
        <p className="foreign small">{texts.lastPage(exitUrl)}</p>
        {referrer !== '' && <p className="foreign small">{texts.cameFrom(referrer)}</p>}
      </details>
    </li>
  )
}
