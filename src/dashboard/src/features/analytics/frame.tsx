/** Shared parts of the analytics pages: the tabs, the row of controls, and the result. */
import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Empty } from '../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { Loading } from '../../parts/feedback/loading.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Tab, Tabs } from '../../parts/page/tabs.tsx'
import { useBusiness } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './analytics.module.css'
import { Cancelled, isCancelled } from './cancelled.tsx'
import { Computing } from './computing.tsx'
import { chartErrorText } from './queries.ts'
import type { RangeSearch } from './search.ts'
import { ANALYTICS_PAGES } from '../../pages.ts'

const TABS = [
  { to: '/dashboard/b/$businessId/analytics', text: 'events' } as const,
  ...ANALYTICS_PAGES.map((page) => ({ to: `/dashboard/b/$businessId/analytics/${page}` as const, text: page })),
]

export function AnalyticsPage({ title, children }: { title: string; children: ReactNode }) {
  const texts = textsOf('analytics')
  const { id: businessId, timezone } = useBusiness()
  const { days, from, to }: RangeSearch = useSearch({ strict: false })
  return (
    <Page title={title} intro={texts.intro(timezone)}>
      <Tabs label={texts.pages}>
        {TABS.map((tab) => (
          <Tab
            key={tab.to}
            to={tab.to}
            params={{ businessId }}
            search={{ days, from, to }}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {texts.tabs[tab.text]}
          </Tab>
        ))}
      </Tabs>
      {children}
      <Computing />
    </Page>
  )
}

export function Controls({ children }: { children: ReactNode }) {
  return (
    <div className={styles['controls']} role="group" aria-label={textsOf('analytics').controls}>
      {children}
    </div>
  )
}

/** Changes choices in the URL, without a new entry in the browser's history. */
export function useChange<Search extends object>(): (change: Partial<Search>) => void {
  const navigate = useNavigate()
  const search: object = useSearch({ strict: false })
  return (change) => {
    const next = { ...search, ...change }
    void navigate({ to: '.', search: next, replace: true, resetScroll: false })
  }
}

interface ResultProps<Data> {
  query: UseQueryResult<Data>
  /** What the person has to choose first. While it is set, nothing is requested. */
  missing?: string | undefined
  isEmpty: (data: Data) => boolean
  /** Replaces the usual content for an empty result. */
  empty?: ReactNode
  children: (data: Data) => ReactNode
}

/** The previous result stays until the answer arrives. */
export function Result<Data>({ query, missing, isEmpty, empty, children }: ResultProps<Data>) {
  const texts = textsOf('analytics')
  const { data, error, refetch, isPlaceholderData } = query
  if (missing !== undefined) return <Empty icon="chart" title={missing} />
  if (error !== null) {
    return <ErrorBox error={error} text={chartErrorText(error)} onRetry={() => void refetch()} />
  }
  if (isCancelled(query)) return <Cancelled onRetry={refetch} />
  if (data === undefined) return <Loading lines={8} />
  return (
    <div aria-busy={isPlaceholderData} className={`stack ${isPlaceholderData ? styles['stale'] : ''}`}>
      {isEmpty(data)
        ? (empty ?? (
            <Empty icon="chart" title={texts.noneTitle}>
              {texts.none}
            </Empty>
          ))
        : children(data)}
    </div>
  )
}
