import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../../parts/badge.tsx'
import { Code } from '../../../parts/code.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { ErrorBox } from '../../../parts/error-box.tsx'
import { Page } from '../../../parts/page.tsx'
import { type Column, Table } from '../../../parts/table.tsx'
import { Time } from '../../../parts/values.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type AuditEntry, auditQuery } from '../queries.ts'

export function AuditPage() {
  const texts = textsOf('settings')
  const { id: businessId } = useBusiness()
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery(auditQuery(businessId))
  const [opened, setOpened] = useState<AuditEntry | null>(null)
  return (
    <Page title={texts.audit} intro={texts.auditIntro} width="full">
      <ErrorBox error={error} onRetry={() => void refetch()} />
      <Table
        label={texts.audit}
        columns={columnsOf()}
        rows={data?.pages.flatMap(({ entries }) => entries) ?? []}
        keyOf={({ id }) => String(id)}
        onOpen={setOpened}
        onEnd={hasNextPage ? () => void fetchNextPage() : undefined}
        isLoading={isPending}
        empty={<Empty icon="list" title={texts.noAudit} />}
      />
      {opened !== null && (
        <Dialog title={describeAction(opened.action)} size="wide" onClose={() => setOpened(null)}>
          <div className="stack">
            <p>
              <bdi className="foreign">{opened.actorName}</bdi> · <Time at={opened.at} />
            </p>
            {opened.target !== null && <Code text={opened.target} label={texts.target} />}
            <Code text={JSON.stringify(opened.details, null, 2)} label={texts.details} />
          </div>
        </Dialog>
      )}
    </Page>
  )
}

/** An action that has no words yet is shown by its name. */
function describeAction(action: string): string {
  const { actions } = textsOf('settings')
  return action in actions ? actions[action as keyof typeof actions] : action
}

function columnsOf(): Column<AuditEntry>[] {
  const texts = textsOf('settings')
  return [
    { key: 'at', header: texts.at, width: '150px', cell: ({ at }) => <Time at={at} /> },
    {
      key: 'actor',
      header: texts.actor,
      width: 'minmax(110px, 1fr)',
      cell: ({ actorName }) => <bdi className="foreign">{actorName}</bdi>,
    },
    {
      key: 'kind',
      header: texts.actorKind,
      width: '110px',
      isSecondary: true,
      cell: ({ actorKind }) => <Badge>{texts.actorKinds[actorKind]}</Badge>,
    },
    {
      key: 'action',
      header: texts.action,
      width: 'minmax(110px, 1fr)',
      cell: ({ action, times }) => (
        <>
          {describeAction(action)} {times > 1 && <span className="muted">× {times}</span>}
        </>
      ),
    },
    {
      key: 'details',
      header: texts.details,
      width: 'minmax(140px, 2fr)',
      isSecondary: true,
      cell: ({ details, target }) => <bdi className="foreign muted">{summarise(details) || target}</bdi>,
    },
  ]
}

const summarise = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
