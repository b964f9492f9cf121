/** Compares Postgres with ClickHouse in the background. Shows the progress and the last result. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../client.ts'
import { formatNumber, formatPercent } from '../../format.ts'
import { Badge } from '../../parts/value/badge.tsx'
import { Button } from '../../parts/action/button.tsx'
import { Code } from '../../parts/value/code.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { Section } from '../../parts/page/page.tsx'
import { type Column, Table } from '../../parts/list/table.tsx'
import { showError } from '../../parts/feedback/toast.tsx'
import { Num, Time } from '../../parts/value/values.tsx'
import { textsOf } from '../../texts/index.ts'
import styles from './operations.module.css'
import { type EndedRun, type RunningRun, verifyQuery } from './queries.ts'

export function Verify() {
  const texts = textsOf('operations')
  const client = useQueryClient()
  const { data, error, refetch } = useQuery(verifyQuery)
  const start = useMutation({
    mutationFn: () => take(api.POST('/dashboard/api/operations/verify')),
    onError: showError,
    onSettled: () => client.invalidateQueries(verifyQuery),
  })
  const running = data?.running ?? null
  const last = data?.last ?? null
  return (
    <Section
      title={texts.verify}
      intro={texts.verifyIntro}
      actions={
        <Button isPending={start.isPending || running !== null} onClick={() => start.mutate()}>
          {texts.compare}
        </Button>
      }
    >
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {running !== null && <Progress run={running} />}
      {last !== null && <Result run={last} />}
      {data !== undefined && running === null && last === null && <p className="muted">{texts.neverCompared}</p>}
      <Code text="npm run admin -- verify" label={texts.listOnServer} />
      <Code text="npm run admin -- verify --repair" label={texts.repairOnServer} />
    </Section>
  )
}

function Progress({ run }: { run: RunningRun }) {
  const texts = textsOf('operations')
  const client = useQueryClient()
  const stop = useMutation({
    mutationFn: () => take(api.POST('/dashboard/api/operations/verify/stop')),
    onError: showError,
    onSettled: () => client.invalidateQueries(verifyQuery),
  })
  const { contacts, totalContacts, activity, isStopping, startedAt, startedBy } = run
  // New contacts may be added while it runs.
  const share = totalContacts === 0 ? 0 : Math.min(1, contacts / totalContacts)
  return (
    <div className={styles['progress']}>
      <progress value={share} aria-label={texts.comparing} />
      <span className="numeric" role="status">
        {isStopping ? texts.stopping : texts.comparing} {formatPercent(share)}
      </span>
      <span className="muted small">
        <Time at={startedAt} as="clock" /> · <bdi className="foreign">{startedBy}</bdi>
        {activity !== '' && (
          <>
            {' · '}
            <span lang="en" dir="ltr">
              {activity}
            </span>
          </>
        )}
      </span>
      <Button isPending={stop.isPending || isStopping} onClick={() => stop.mutate()}>
        {texts.stop}
      </Button>
    </div>
  )
}

function Result({ run }: { run: EndedRun }) {
  const texts = textsOf('operations')
  const { agree, reason, endedAt, startedBy, contacts, visitors, businesses, notCompared, uncompared, found } = run
  const verdict = agree === null ? 'warn' : agree ? 'good' : 'bad'
  return (
    <div className="stack">
      <p className={styles['verdict']}>
        <span role="status">
          <Badge kind={verdict}>{texts.agreements[verdict]}</Badge>
        </span>
        <Time at={endedAt} />
        <bdi className="foreign muted small">{startedBy}</bdi>
      </p>
      {reason === null ? (
        <p className="muted small">
          {texts.compared(formatNumber(contacts), formatNumber(visitors), formatNumber(businesses))}{' '}
          {notCompared > 0 && texts.changedAlways(formatNumber(notCompared))}{' '}
          {uncompared > 0 && texts.partsLeft(formatNumber(uncompared))}
        </p>
      ) : (
        <p lang="en" dir="ltr">
          {reason}
        </p>
      )}
      {found.length > 0 && (
        <Table label={texts.differences} columns={columnsOf()} rows={found} keyOf={({ kind }) => kind} height="auto" />
      )}
    </div>
  )
}

type Found = EndedRun['found'][number]

function columnsOf(): Column<Found>[] {
  const texts = textsOf('operations')
  const describe = (kind: string) => (kind in texts.kinds ? texts.kinds[kind as keyof typeof texts.kinds] : kind)
  return [
    { key: 'kind', header: texts.difference, width: 'minmax(140px, 3fr)', cell: ({ kind }) => describe(kind) },
    {
      key: 'count',
      header: texts.howMany,
      width: 'minmax(80px, 1fr)',
      align: 'end',
      cell: ({ count }) => <Num value={count} />,
    },
  ]
}
