import { useQuery } from '@tanstack/react-query'
import { formatNumber } from '../../format.ts'
import { Badge } from '../../parts/value/badge.tsx'
import { Code } from '../../parts/value/code.tsx'
import { Empty } from '../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { Loading } from '../../parts/feedback/loading.tsx'
import { Note } from '../../parts/feedback/note.tsx'
import { Page, Section } from '../../parts/page/page.tsx'
import { type Column, Table } from '../../parts/list/table.tsx'
import { Num } from '../../parts/value/values.tsx'
import { useMe } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { AuditTable } from '../settings/links.ts'
import { DeadLetters } from './dead-letters.tsx'
import { formatBytes } from './format-bytes.ts'
import styles from './operations.module.css'
import { type Installation, type Partition, type Store, installationQuery } from './queries.ts'
import { Verify } from './verify.tsx'

export function OperationsPage() {
  const texts = textsOf('operations')
  const { isOperator } = useMe().user
  if (!isOperator) {
    return (
      <Page title={texts.title}>
        <Empty icon="lock" title={texts.onlyOperators} />
      </Page>
    )
  }
  return <Operations />
}

function Operations() {
  const texts = textsOf('operations')
  const { data, error, refetch } = useQuery(installationQuery)
  return (
    <Page title={texts.title} intro={data && texts.version(data.version)} actions={data && <Verdict data={data} />}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {data?.blocking.concat(data.degraded).map((reason) => (
        <Note key={reason}>
          <span lang="en" dir="ltr">
            {reason}
          </span>
        </Note>
      ))}
      <Section title={texts.stores}>
        <Stores data={data} />
      </Section>
      <Section title={texts.partitions} intro={data?.partitions && partitionsIntro(data.partitions)}>
        {data?.partitions === null ? (
          <p className="muted">{texts.unknown}</p>
        ) : (
          <Table
            label={texts.partitions}
            columns={columnsOf()}
            rows={data?.partitions.list ?? []}
            keyOf={({ partition }) => partition}
            isLoading={data === undefined}
            height="auto"
          />
        )}
        <Code text="npm run admin -- partitions set N" label={texts.changeNumber} />
      </Section>
      <DeadLetters />
      <Section title={textsOf('settings').audit} intro={texts.auditIntro}>
        <AuditTable businessId={null} height="auto" />
      </Section>
      <Verify />
    </Page>
  )
}

function Verdict({ data: { isReady, degraded } }: { data: Installation }) {
  const texts = textsOf('operations')
  const kind = !isReady ? 'bad' : degraded.length > 0 ? 'warn' : 'good'
  return (
    <span role="status">
      <Badge kind={kind}>{texts.verdicts[kind]}</Badge>
    </span>
  )
}

function partitionsIntro({ ofEachKind, changingTo, list }: NonNullable<Installation['partitions']>): string {
  const texts = textsOf('operations')
  const workers = new Set(list.flatMap(({ worker }) => worker ?? [])).size
  const counted = texts.counted(formatNumber(ofEachKind), formatNumber(workers))
  return changingTo === null ? counted : `${counted} ${texts.changing(formatNumber(changingTo))}`
}

function Stores({ data }: { data: Installation | undefined }) {
  const texts = textsOf('operations')
  return (
    <>
      <Table
        label={texts.stores}
        columns={storeColumns()}
        rows={data?.stores ?? []}
        keyOf={({ store }) => store}
        isLoading={data === undefined}
        waitingRows={3}
        height="auto"
      />
      {data === undefined ? <Loading lines={2} /> : <StoreFacts outbox={data.outbox} disks={data.disks} />}
    </>
  )
}

function StoreFacts({ outbox, disks }: Pick<Installation, 'outbox' | 'disks'>) {
  const texts = textsOf('operations')
  return (
    <dl className={styles['stores']}>
      <div>
        <dt className="muted small">{texts.outbox}</dt>
        <dd>
          {outbox === null ? (
            <span className="muted">{texts.unknown}</span>
          ) : (
            texts.waiting(formatNumber(outbox.rows), formatNumber(Math.round(outbox.seconds)))
          )}
        </dd>
      </div>
      {disks.map(({ store, freeBytes, isLow }) => (
        <div key={store}>
          <dt className="muted small">{texts.diskOf(STORE_NAMES[store])}</dt>
          <dd>
            {texts.free(formatBytes(freeBytes))} {isLow && <Badge kind="bad">{texts.low}</Badge>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const STORE_NAMES = { redis: 'Redis', postgres: 'Postgres', clickhouse: 'ClickHouse' }

function storeColumns(): Column<Store>[] {
  const texts = textsOf('operations')
  const unknown = <span className="muted">–</span>
  return [
    { key: 'store', header: texts.store, width: 'minmax(90px, 1fr)', cell: ({ store }) => STORE_NAMES[store] },
    {
      key: 'state',
      header: texts.state,
      width: 'minmax(110px, 1fr)',
      cell: ({ latencyMs, lateSince }) => {
        if (latencyMs === null) return <Badge kind="bad">{texts.away}</Badge>
        return lateSince === null ? <Badge kind="good">{texts.answers}</Badge> : <Badge kind="warn">{texts.late}</Badge>
      },
    },
    {
      key: 'latency',
      header: texts.latency,
      width: '90px',
      align: 'end',
      cell: ({ latencyMs }) => (latencyMs === null ? unknown : <Num value={Math.round(latencyMs * 10) / 10} />),
    },
    {
      key: 'bytes',
      header: texts.size,
      width: '190px',
      align: 'end',
      isSecondary: true,
      cell: ({ store, bytes }) => (bytes === null ? unknown : texts.sizes[store](formatBytes(bytes))),
    },
  ]
}

function columnsOf(): Column<Partition>[] {
  const texts = textsOf('operations')
  const unknown = <span className="muted">–</span>
  return [
    { key: 'partition', header: texts.partition, width: '100px', cell: ({ partition }) => <code>{partition}</code> },
    {
      key: 'worker',
      header: texts.worker,
      width: 'minmax(60px, 2fr)',
      cell: ({ worker }) => (worker === null ? <Badge kind="bad">{texts.noWorker}</Badge> : <code>{worker}</code>),
    },
    {
      key: 'bytes',
      header: texts.backlog,
      width: '76px',
      align: 'end',
      cell: ({ backlogBytes }) => (backlogBytes === null ? unknown : formatBytes(backlogBytes)),
    },
    {
      key: 'seconds',
      header: texts.oldest,
      width: '120px',
      align: 'end',
      isSecondary: true,
      cell: ({ backlogSeconds }) => (backlogSeconds === null ? unknown : <Num value={Math.round(backlogSeconds)} />),
    },
    {
      key: 'position',
      header: texts.position,
      width: 'minmax(140px, 1fr)',
      isSecondary: true,
      cell: ({ position }) => <code>{position}</code>,
    },
  ]
}
