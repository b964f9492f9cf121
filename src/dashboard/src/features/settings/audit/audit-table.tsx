/** A list of changes, newest first, each with its details. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../../parts/value/badge.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type AuditEntry, auditQuery } from '../queries.ts'
import { changedUser, describeDetails } from './describe-details.ts'

/** `businessId` is null for the installation. Needs the texts `settings`. */
export function AuditTable({ businessId, height }: { businessId: string | null; height?: 'auto' }) {
  const texts = textsOf('settings')
  const list = useInfiniteQuery(auditQuery(businessId))
  const [opened, setOpened] = useState<AuditEntry | null>(null)
  const email = opened && changedUser(opened)
  return (
    <>
      <PagedTable
        list={list}
        label={texts.audit}
        columns={columnsOf()}
        rows={list.data?.pages.flatMap(({ entries }) => entries) ?? []}
        keyOf={({ id }) => String(id)}
        onOpen={setOpened}
        {...(height && { height })}
        empty={<Empty icon="list" title={texts.noAudit} />}
      />
      {opened !== null && (
        <Dialog title={describeAction(opened.action)} size="wide" onClose={() => setOpened(null)}>
          <div className="stack">
            <p>
              <bdi className="foreign">{describeActor(opened)}</bdi> · <Time at={opened.at} />
            </p>
            {email !== null && <p className="foreign">{email}</p>}
            {opened.target !== null && <Code text={opened.target} label={texts.target} />}
            <Code text={JSON.stringify(opened.details, null, 2)} label={texts.details} />
          </div>
        </Dialog>
      )}
    </>
  )
}

/** For a command, adds the user of the operating system who ran it. */
const describeActor = ({ actorKind, actorName, actorId }: AuditEntry): string =>
  actorKind === 'command' ? `${actorName} (${actorId})` : actorName

/** Returns the text of an action; its name when it has no text yet. */
function describeAction(action: string): string {
  const { actions } = textsOf('settings')
  return action in actions ? actions[action as keyof typeof actions] : action
}

function columnsOf(): Column<AuditEntry>[] {
  const texts = textsOf('settings')
  return [
    // On a telephone, the date and the time have a line each.
    { key: 'at', header: texts.at, width: TIME_WIDTH, isWrapped: true, cell: ({ at }) => <Time at={at} /> },
    {
      key: 'actor',
      header: texts.actor,
      width: 'minmax(110px, 3fr)',
      isWrapped: true,
      cell: (entry) => <bdi className="foreign">{describeActor(entry)}</bdi>,
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
      width: 'minmax(110px, 3fr)',
      isWrapped: true,
      cell: ({ action, times }) => (
        <>
          {describeAction(action)} {times > 1 && <span className="muted">× {times}</span>}
        </>
      ),
    },
    {
      key: 'details',
      header: texts.details,
      width: 'minmax(140px, 4fr)',
      isSecondary: true,
      isWrapped: true,
      cell: (entry) => <bdi className="foreign muted">{describeDetails(entry)}</bdi>,
    },
  ]
}
