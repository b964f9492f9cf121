import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Member, peopleQuery } from '../queries.ts'
import { EditMember } from './edit-member.tsx'
import { Invitations } from './invitations.tsx'
import { Invite } from './invite.tsx'

export function PeoplePage() {
  return useCan('contacts:read') ? <People /> : <NotFound />
}

function People() {
  const texts = textsOf('settings')
  const { id: businessId } = useBusiness()
  const canChange = useCan('people:write')
  const { data, error, isPending, refetch } = useQuery(peopleQuery(businessId))
  const [isInviting, setInviting] = useState(false)
  const [edited, setEdited] = useState<Member | null>(null)
  const invite = (
    <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
      {texts.invite}
    </Button>
  )
  return (
    <Page title={texts.people} intro={texts.peopleIntro} actions={canChange && invite}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      <Table
        label={texts.people}
        columns={columnsOf(canChange ? setEdited : undefined)}
        rows={data?.members ?? []}
        keyOf={({ userId }) => userId}
        {...(canChange && { onOpen: setEdited })}
        isLoading={isPending}
        empty={
          <Empty icon="people" title={texts.noPeople}>
            {canChange && texts.noPeopleText}
          </Empty>
        }
      />
      {data !== undefined && data.invitations.length > 0 && (
        <Invitations businessId={businessId} invitations={data.invitations} />
      )}
      {isInviting && <Invite businessId={businessId} onClose={() => setInviting(false)} />}
      {edited !== null && <EditMember businessId={businessId} member={edited} onClose={() => setEdited(null)} />}
    </Page>
  )
}

function columnsOf(onEdit: ((member: Member) => void) | undefined): Column<Member>[] {
  const texts = textsOf('settings')
  const { roles } = textsOf('shell')
  return [
    {
      key: 'email',
      header: texts.person,
      width: 'minmax(150px, 2fr)',
      cell: ({ email }) => <bdi className="foreign">{email}</bdi>,
    },
    {
      key: 'name',
      header: texts.personName,
      width: 'minmax(100px, 1fr)',
      isSecondary: true,
      cell: ({ name }) => <bdi className="foreign">{name}</bdi>,
    },
    { key: 'role', header: texts.role, width: '110px', cell: ({ role }) => <Badge>{roles[role]}</Badge> },
    {
      key: 'totp',
      header: texts.secondStep,
      width: '110px',
      isSecondary: true,
      cell: ({ hasTotp }) => <Badge kind={hasTotp ? 'good' : 'neutral'}>{hasTotp ? texts.on : texts.off}</Badge>,
    },
    {
      key: 'seen',
      header: texts.lastSeen,
      width: '120px',
      isSecondary: true,
      cell: ({ seenAt }) =>
        seenAt === null ? <span className="muted">{texts.never}</span> : <Time at={seenAt} as="ago" />,
    },
    ...(onEdit === undefined
      ? []
      : [
          {
            key: 'actions',
            header: texts.actionsColumn,
            isHeaderHidden: true,
            width: '56px',
            align: 'end' as const,
            cell: (member: Member) => (
              <Button
                kind="quiet"
                size="small"
                icon="edit"
                aria-label={`${texts.edit}: ${member.email}`}
                onClick={() => onEdit(member)}
              />
            ),
          },
        ]),
  ]
}
