import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { Menu } from '../../../parts/overlay/menu.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { showError, showToast } from '../../../parts/feedback/toast.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Invitation, peopleQuery } from '../queries.ts'
import { type Invited, ShownLink } from './invite.tsx'

interface InvitationsProps {
  businessId: string
  invitations: readonly Invitation[]
}

export function Invitations({ businessId, invitations }: InvitationsProps) {
  const texts = textsOf('settings')
  const client = useQueryClient()
  const canChange = useCan('people:write')
  const [invited, setInvited] = useState<Invited | null>(null)
  const refresh = () => client.invalidateQueries({ queryKey: peopleQuery(businessId).queryKey })
  const resend = useMutation({
    mutationFn: (invitationId: string) => {
      const params = { path: { businessId, invitationId } }
      return take(api.POST('/dashboard/api/b/{businessId}/invitations/{invitationId}/resend', { params }))
    },
    onError: showError,
    // An invitation that is sent again has another id: the next action needs the new list.
    onSettled: async (answer) => {
      await refresh()
      if (answer?.mail === 'sent') showToast(texts.invited)
      else if (answer !== undefined) setInvited(answer)
    },
  })
  const revoke = useMutation({
    mutationFn: (invitationId: string) => {
      const params = { path: { businessId, invitationId } }
      return take(api.DELETE('/dashboard/api/b/{businessId}/invitations/{invitationId}', { params }))
    },
    onSuccess: () => showToast(texts.invitationRevoked),
    onError: showError,
    onSettled: refresh,
  })
  const actions: Column<Invitation> = {
    key: 'actions',
    header: texts.actionsColumn,
    isHeaderHidden: true,
    width: '56px',
    align: 'end',
    cell: ({ id, email }) => (
      <Menu
        label={texts.actionsOf(email)}
        items={[
          { label: texts.resend, icon: 'send', onSelect: () => resend.mutate(id) },
          { label: texts.revoke, icon: 'trash', isDangerous: true, onSelect: () => revoke.mutate(id) },
        ]}
      >
        <Icon name="more" />
      </Menu>
    ),
  }
  return (
    <Section title={texts.invitations} intro={texts.invitationsIntro}>
      <Table
        label={texts.invitations}
        columns={[...columnsOf(), ...(canChange ? [actions] : [])]}
        rows={invitations}
        // Not the id, which changes when an invitation is sent again: a new row would lose the focus and an open menu.
        keyOf={({ email }) => email}
      />
      {invited !== null && <ShownLink invited={invited} onClose={() => setInvited(null)} />}
    </Section>
  )
}

function columnsOf(): Column<Invitation>[] {
  const texts = textsOf('settings')
  const { roles } = textsOf('shell')
  return [
    {
      key: 'email',
      header: texts.person,
      width: 'minmax(120px, 2fr)',
      cell: ({ email }) => <bdi className="foreign">{email}</bdi>,
    },
    {
      key: 'role',
      header: texts.role,
      width: '110px',
      isSecondary: true,
      cell: ({ role }) => <Badge>{roles[role]}</Badge>,
    },
    {
      key: 'by',
      header: texts.invitedBy,
      width: 'minmax(100px, 1fr)',
      isSecondary: true,
      cell: ({ invitedBy }) => <bdi className="foreign">{invitedBy}</bdi>,
    },
    {
      key: 'expires',
      header: texts.expires,
      width: '130px',
      isSecondary: true,
      cell: ({ expiresAt }) => <Time at={expiresAt} as="day" />,
    },
  ]
}
