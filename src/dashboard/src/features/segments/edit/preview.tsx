/** The number of contacts for whom the rule is true, while it is edited, and some of them. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Skeleton } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useLate } from '../../../parts/action/use-late.ts'
import { textsOf } from '../../../texts/index.ts'
import { nameOf, namesQuery } from '../../contacts/links.ts'
import { previewQuery } from '../queries.ts'
import type { RuleBody } from '../../rules/tree.ts'
import styles from '../../rules/edit/rule-editor.module.css'

const PAUSE_MS = 250

export type Preview = UseQueryResult<{ count: number; sample: string[]; asOf: string; ms: number }>

/** `rule` is null while it is incomplete. When the rule changes, counting the previous rule is cancelled. */
export function usePreview(businessId: string, rule: RuleBody | null): Preview {
  const lateRule = useLate(rule, PAUSE_MS)
  return useQuery(previewQuery(businessId, lateRule === rule ? lateRule : null))
}

interface PreviewPanelProps {
  businessId: string
  preview: Preview
  isComplete: boolean
}

export function PreviewPanel({ businessId, preview, isComplete }: PreviewPanelProps) {
  const texts = textsOf('segments')
  const { data, error, isFetching, isPlaceholderData, refetch } = preview
  const isRefused = error instanceof ApiError && error.code === 'invalid_request'
  const isStale = !isComplete || isFetching || isPlaceholderData
  return (
    <>
      <div className={styles['counted']}>
        <Section title={texts.count}>
          <p className={`${styles['count']} ${isStale ? styles['stale'] : ''}`}>
            {data === undefined ? '–' : <span className="numeric">{formatNumber(data.count)}</span>}
          </p>
          <p className="muted small" role="status">
            {noteOf({ isComplete, isRefused, preview })}
          </p>
          {!isRefused && <ErrorBox error={error} onRetry={() => void refetch()} />}
        </Section>
      </div>
      {data !== undefined && data.sample.length > 0 && <Sample businessId={businessId} ids={data.sample} />}
    </>
  )
}

interface NoteProps {
  isComplete: boolean
  isRefused: boolean
  preview: Preview
}

function noteOf({ isComplete, isRefused, preview: { data, error, isFetching, isPlaceholderData } }: NoteProps): string {
  const texts = textsOf('segments')
  if (!isComplete) return texts.notCounted
  if (isRefused) return texts.notCountedIssues
  if (error !== null) return ''
  if (data === undefined || isFetching || isPlaceholderData) return texts.counting
  const seconds = formatNumber(Math.max(0.01, Math.round(data.ms / 10) / 100))
  return `${texts.countText(formatNumber(data.count))}. ${texts.countedIn(seconds)}`
}

function Sample({ businessId, ids }: { businessId: string; ids: string[] }) {
  const texts = textsOf('segments')
  const { data } = useQuery(namesQuery(businessId, ids))
  const named = new Map(data?.contacts.map((contact) => [contact.contactId, contact]))
  return (
    <Section title={texts.sample}>
      <ul className={styles['sample']}>
        {ids.map((contactId) => {
          const contact = named.get(contactId)
          return (
            <li key={contactId}>
              <Link
                to="/dashboard/b/$businessId/contacts/$contactId"
                params={{ businessId, contactId }}
                className="foreign"
              >
                {data === undefined ? <Skeleton width="120px" /> : ((contact && nameOf(contact)) ?? texts.unnamed)}
              </Link>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
