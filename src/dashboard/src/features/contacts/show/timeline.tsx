/** The events of the contact, newest first. The filter is in the URL. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Button } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Money, Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from './contact.module.css'
import { EVENT_KINDS, type TimelineSearch } from '../search.ts'
import { type ContactPath, type TimelineEvent, timelineQuery } from './queries.ts'

export function Timeline({ path }: { path: ContactPath }) {
  const texts = textsOf('contacts')
  const { type }: TimelineSearch = useSearch({ strict: false })
  const timeline = useInfiniteQuery(timelineQuery(path, type))
  const events = timeline.data?.pages.flatMap((page) => page.events) ?? []
  return (
    <Section title={texts.timeline} actions={<KindOfEvent type={type} />}>
      <ErrorBox error={timeline.error} onRetry={() => void timeline.refetch()} />
      {timeline.isPending && <Loading />}
      {timeline.data !== undefined && events.length === 0 && (
        <Empty icon="list" title={type === undefined ? texts.noEvents : texts.noSuchEvents} />
      )}
      <ol className={styles['timeline']}>
        {events.map((event) => (
          <EventRow key={event.eventId} event={event} />
        ))}
      </ol>
      {timeline.hasNextPage && (
        <Button isPending={timeline.isFetchingNextPage} onClick={() => void timeline.fetchNextPage()}>
          {texts.more}
        </Button>
      )}
    </Section>
  )
}

function KindOfEvent({ type }: TimelineSearch) {
  const texts = textsOf('contacts')
  const navigate = useNavigate()
  const show = (value: string) => {
    const kind = EVENT_KINDS.find((one) => one === value)
    void navigate({ to: '.', search: kind === undefined ? {} : { type: kind }, replace: true })
  }
  return (
    <SelectField
      name="type"
      label={texts.kindOfEvent}
      isLabelHidden
      value={type ?? ''}
      options={[
        { value: '', label: texts.anyKind },
        ...EVENT_KINDS.map((kind) => ({ value: kind, label: texts.kinds[kind] })),
      ]}
      onChange={(event) => show(event.target.value)}
    />
  )
}

function EventRow({ event }: { event: TimelineEvent }) {
  return (
    <li>
      <details>
        <summary>
          <bdi className="foreign">{event.event}</bdi>
          {event.value !== null && event.currency !== null && <Money amount={event.value} currency={event.currency} />}
          <span className="muted small">
            <Time at={event.occurredAt} />
          </span>
        </summary>
        {event.properties === null ? (
          <p className="muted small">{textsOf('contacts').noProperties}</p>
        ) : (
          <pre className="foreign small">{JSON.stringify(event.properties, null, 2)}</pre>
        )}
      </details>
    </li>
  )
}
