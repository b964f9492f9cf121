/**
 * What the campaign would have done with contacts, given the events that really occurred. The server runs it, and this
 * page shows its progress.
 */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ApiError, api, take } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { textsOf } from '../../../texts/index.ts'
import { sayAtField } from '../../../without-path.ts'
import { InstantField } from '../edit/instant-field.tsx'
import type { Backtest, Campaign, CampaignPath } from '../queries.ts'
import { BacktestOutcome } from './backtest-outcome.tsx'
import styles from './campaign.module.css'
import type { CampaignSearch } from '../search.ts'

const LOOK_MS = 1000
const DAYS = 30
const DAY_MS = 86_400_000

interface BacktestTabProps {
  path: CampaignPath
  campaign: Campaign
}

export function BacktestTab({ path, campaign }: BacktestTabProps) {
  const texts = textsOf('backtest')
  const { backtest: backtestId }: CampaignSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const [from, setFrom] = useState<string | undefined>(() => new Date(Date.now() - DAYS * DAY_MS).toISOString())
  const [to, setTo] = useState<string>()
  const start = useMutation({
    mutationFn: () => {
      // The server rejects a missing start.
      const body = { from: from ?? '', ...(to !== undefined && { to }) }
      return take(api.POST('/dashboard/api/b/{businessId}/campaigns/{campaignId}/backtest', { params: { path }, body }))
    },
    onSuccess: (started) =>
      navigate({
        to: '.',
        search: { tab: 'backtest', backtest: started.backtestId },
        replace: true,
        resetScroll: false,
      }),
  })
  const issues = start.error instanceof ApiError ? start.error.issues : []
  const issueOf = (name: string) => {
    const found = issues.find((issue) => issue.path === name)
    return found && sayAtField(found)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!start.isPending) start.mutate()
  }
  return (
    <>
      <Section title={texts.title} intro={texts.intro}>
        <form onSubmit={submit} noValidate className="stack">
          <div className={styles['filters']}>
            <InstantField
              name="from"
              label={texts.from}
              hint={texts.fromHint}
              value={from}
              error={issueOf('from')}
              onChange={setFrom}
            />
            <InstantField
              name="to"
              label={texts.to}
              hint={texts.toHint}
              value={to}
              error={issueOf('to')}
              onChange={setTo}
            />
          </div>
          <ErrorBox error={start.error} />
          <div>
            <Button kind="primary" type="submit" icon="play" isPending={start.isPending}>
              {texts.run}
            </Button>
          </div>
        </form>
      </Section>
      {backtestId !== undefined && <Followed path={{ ...path, backtestId }} campaign={campaign} />}
    </>
  )
}

interface FollowedProps {
  path: CampaignPath & { backtestId: string }
  campaign: Campaign
}

function Followed({ path, campaign }: FollowedProps) {
  const texts = textsOf('backtest')
  const client = useQueryClient()
  const params = { path }
  const queryKey = ['campaign', path, 'backtest']
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      take(api.GET('/dashboard/api/b/{businessId}/campaigns/{campaignId}/backtest/{backtestId}', { params, signal })),
    refetchInterval: ({ state }) => (state.data?.backtest.status === 'running' ? LOOK_MS : false),
  })
  const cancel = useMutation({
    mutationFn: () =>
      take(api.DELETE('/dashboard/api/b/{businessId}/campaigns/{campaignId}/backtest/{backtestId}', { params })),
    onSuccess: (cancelled) => client.setQueryData(queryKey, cancelled),
  })
  if (error instanceof ApiError && error.status === 404) return <Note>{texts.forgotten}</Note>
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />
  if (data === undefined) return null
  const { backtest } = data
  return (
    <>
      <ErrorBox error={cancel.error} />
      {backtest.status === 'running' && (
        <Running progress={backtest.progress} isPending={cancel.isPending} onCancel={() => cancel.mutate()} />
      )}
      {backtest.status === 'cancelled' && <Note>{texts.cancelled}</Note>}
      {backtest.status === 'failed' && (
        <Note>
          {texts.failed} {backtest.error}
        </Note>
      )}
      {backtest.result !== null && (
        <BacktestOutcome result={backtest.result} campaign={campaign} businessId={path.businessId} />
      )}
    </>
  )
}

interface RunningProps {
  progress: Backtest['progress']
  isPending: boolean
  onCancel: () => void
}

function Running({ progress: { done, total }, isPending, onCancel }: RunningProps) {
  const texts = textsOf('backtest')
  return (
    <div className={styles['progress']} role="status">
      <progress aria-label={texts.running} max={total ?? 1} {...(total !== null && { value: done })} />
      <span className="numeric">
        {texts.running} {total !== null && texts.done(formatNumber(done), formatNumber(total))}
      </span>
      <Button isPending={isPending} onClick={onCancel}>
        {texts.cancel}
      </Button>
    </div>
  )
}
