import { useQuery } from '@tanstack/react-query'
import { type FocusEvent, type MouseEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { statusQuery } from '../../home/links.ts'
import { firstEvent } from './curl.ts'
import type { LiveRequest } from './feed.ts'
import type { Filter } from './search.ts'
import styles from './live.module.css'
import { OutcomeBadge } from './outcome-badge.tsx'
import { RequestDialog } from './request-dialog.tsx'
import { useFeed } from './use-feed.ts'

interface RequestsProps {
  businessId: string
  filter: Filter
  isPaused: boolean
  onClear: () => void
}

/** Remount this for another filter. */
export function Requests({ businessId, filter, isPaused, onClear }: RequestsProps) {
  const texts = textsOf('live')
  const area = useRef<HTMLDivElement>(null)
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const [opened, setOpened] = useState<string | null>(null)
  const isInside = isPointed || isFocused || opened !== null
  const { feed, error, loadOlder, show, retry } = useFeed(businessId, filter, isPaused || isInside)
  const { shown, waiting, omitted, arrived } = feed
  const isLoading = feed.newest === undefined && error === null

  const showNew = (event: MouseEvent) => {
    show()
    // The button disappears. The keyboard continues in the table, and a click leaves no focus behind.
    if (event.detail === 0) area.current?.querySelector<HTMLElement>('[role=row][data-index]')?.focus()
    else (event.currentTarget as HTMLElement).blur()
  }
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent) => setFocused(currentTarget.contains(relatedTarget))
  const isFiltered = Object.keys(filter).length > 0
  return (
    <>
      <ErrorBox error={error} onRetry={retry} />
      <div
        ref={area}
        className={styles['area']}
        onPointerEnter={({ pointerType }) => setPointed(pointerType === 'mouse')}
        onPointerLeave={() => setPointed(false)}
        onFocus={() => setFocused(true)}
        onBlur={onBlur}
      >
        {shown.length > 0 && (
          <div className={styles['bar']}>
            <span className="muted small">{isPaused ? texts.paused : isInside ? texts.held : texts.running}</span>
            {waiting.length > 0 && (
              <Button size="small" kind="primary" onClick={showNew}>
                {texts.showNew(formatNumber(waiting.length))}
              </Button>
            )}
          </div>
        )}
        {(shown.length > 0 || isLoading) && (
          <Table
            label={texts.title}
            columns={columnsOf(texts)}
            rows={shown}
            keyOf={({ id }) => id}
            onOpen={({ id }) => setOpened(id)}
            onEnd={loadOlder}
            isLoading={isLoading}
          />
        )}
        {shown.length === 0 && waiting.length > 0 && (
          <Button kind="primary" onClick={showNew}>
            {texts.showNew(formatNumber(waiting.length))}
          </Button>
        )}
      </div>
      {shown.length === 0 && waiting.length === 0 && !isLoading && error === null && (
        <Nothing businessId={businessId} isFiltered={isFiltered} onClear={onClear} />
      )}
      {omitted > 0 && <p className="muted small">{texts.omitted(formatNumber(omitted))}</p>}
      <Summary arrived={arrived} />
      {opened !== null && <RequestDialog businessId={businessId} requestId={opened} onClose={() => setOpened(null)} />}
    </>
  )
}

function columnsOf(texts: ReturnType<typeof textsOf<'live'>>): Column<LiveRequest>[] {
  return [
    { key: 'at', header: texts.time, width: '108px', cell: ({ at }) => <Time at={at} as="clock" /> },
    {
      key: 'event',
      header: texts.event,
      width: 'minmax(110px, 2fr)',
      cell: ({ event, method, route }) =>
        event === null ? <span className="muted" dir="ltr">{`${method} ${route}`}</span> : <bdi>{event}</bdi>,
    },
    {
      key: 'outcome',
      header: texts.outcome,
      width: '118px',
      cell: ({ outcome }) => <OutcomeBadge outcome={outcome} />,
    },
    {
      key: 'message',
      header: texts.message,
      width: 'minmax(160px, 3fr)',
      isSecondary: true,
      cell: (request) => <bdi className="muted">{describeAnswer(request)}</bdi>,
    },
    { key: 'key', header: texts.key, width: '90px', isSecondary: true, cell: ({ key }) => <code>{key ?? ''}</code> },
    {
      key: 'ms',
      header: texts.duration,
      width: '110px',
      align: 'end',
      isSecondary: true,
      cell: ({ ms }) => <span className="numeric">{texts.milliseconds(formatNumber(ms))}</span>,
    },
  ]
}

/** The server keeps no more warnings of one request. */
const MAX_WARNINGS = 20

/** The answer to a batch counts the items that failed, so it stays in view. A warning about one event says more than the answer. */
function describeAnswer({ route, message, warnings }: LiveRequest): string {
  const [first] = warnings
  if (first === undefined) return message
  if (!route.endsWith('/batch')) return first
  const many = formatNumber(warnings.length) + (warnings.length < MAX_WARNINGS ? '' : '+')
  return `${message} ${textsOf('live').warned(warnings.length, many, first)}`
}

function Nothing({
  businessId,
  isFiltered,
  onClear,
}: Omit<RequestsProps, 'filter' | 'isPaused'> & { isFiltered: boolean }) {
  const texts = textsOf('live')
  // The feed shows the next request, so the status is not read again.
  const { data: status } = useQuery({ ...statusQuery(businessId), refetchInterval: false })
  if (isFiltered) {
    return (
      <Empty icon="filter" title={texts.noMatch} actions={<Button onClick={onClear}>{texts.clear}</Button>}>
        {texts.noMatchText}
      </Empty>
    )
  }
  if (status?.hasContacts !== false) {
    return (
      <Empty icon="live" title={texts.none}>
        {texts.waiting}
      </Empty>
    )
  }
  return (
    <Empty icon="live" title={texts.none}>
      <div className={styles['first']}>
        <p>{texts.noneText}</p>
        <Code label={texts.example} text={firstEvent(location.origin)} />
      </div>
    </Empty>
  )
}

const SUMMARY_MS = 5000

/** Announces the number of new requests, at most every 5 seconds. */
function Summary({ arrived }: { arrived: number }) {
  const texts = textsOf('live')
  const [announced, setAnnounced] = useState({ upTo: 0, text: '' })
  const say = useEffectEvent(() => {
    const count = arrived - announced.upTo
    if (count > 0) setAnnounced({ upTo: arrived, text: texts.arrived(count, formatNumber(count)) })
  })
  useEffect(() => {
    const timer = setInterval(() => say(), SUMMARY_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <p className="visually-hidden" role="status">
      {/* A new element is announced even when its text is the same. */}
      <span key={announced.upTo}>{announced.text}</span>
    </p>
  )
}
