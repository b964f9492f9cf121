import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { Menu } from '../../../parts/overlay/menu.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Key, keysQuery } from '../queries.ts'
import { CreateKey } from './create-key.tsx'

const PREFIXES: Record<Key['kind'], string> = { secret: 'sk_live_', publishable: 'pk_live_' }
const nameOf = ({ kind, hint }: Key) => `${PREFIXES[kind]}…${hint}`

export function KeysPage() {
  const texts = textsOf('settings')
  const { id: businessId } = useBusiness()
  const canChange = useCan('keys:write')
  const { data, error, isPending, refetch } = useQuery(keysQuery(businessId))
  const [creating, setCreating] = useState<'new' | Key | null>(null)
  const [revoking, setRevoking] = useState<Key | null>(null)
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setCreating('new')}>
      {texts.createKey}
    </Button>
  )
  return (
    <Page title={texts.keys} intro={texts.keysIntro} actions={canChange && create}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      <Table
        label={texts.keys}
        columns={[...columnsOf(), ...(canChange ? [actionColumn(setCreating, setRevoking)] : [])]}
        rows={data?.keys ?? []}
        keyOf={({ keyId }) => keyId}
        isLoading={isPending}
        empty={
          <Empty icon="key" title={texts.noKeys}>
            {texts.noKeysText}
          </Empty>
        }
      />
      {creating !== null && (
        <CreateKey
          businessId={businessId}
          replaced={creating === 'new' ? null : { kind: creating.kind, name: nameOf(creating) }}
          onClose={() => setCreating(null)}
        />
      )}
      {revoking !== null && <Revoke businessId={businessId} revoked={revoking} onClose={() => setRevoking(null)} />}
    </Page>
  )
}

function columnsOf(): Column<Key>[] {
  const texts = textsOf('settings')
  return [
    { key: 'key', header: texts.key, width: 'minmax(150px, 2fr)', cell: (key) => <code dir="ltr">{nameOf(key)}</code> },
    {
      key: 'kind',
      header: texts.kind,
      width: '120px',
      cell: ({ kind, revokedAt }) =>
        revokedAt === null ? (
          <Badge kind={kind === 'secret' ? 'accent' : 'neutral'}>{texts.kinds[kind]}</Badge>
        ) : (
          <Badge kind="bad">{texts.revoked}</Badge>
        ),
    },
    {
      key: 'created',
      header: texts.created,
      width: '130px',
      isSecondary: true,
      cell: ({ createdAt }) => <Time at={createdAt} as="day" />,
    },
    {
      key: 'used',
      header: texts.lastUsed,
      width: 'minmax(110px, 1fr)',
      isSecondary: true,
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span className="muted">{texts.never}</span> : <Time at={lastUsedAt} as="ago" />,
    },
  ]
}

function actionColumn(onRotate: (key: Key) => void, onRevoke: (key: Key) => void): Column<Key> {
  const texts = textsOf('settings')
  return {
    key: 'actions',
    header: texts.actionsColumn,
    isHeaderHidden: true,
    width: '56px',
    align: 'end',
    cell: (key) =>
      key.revokedAt === null && (
        <Menu
          label={texts.actionsOf(nameOf(key))}
          items={[
            { label: texts.rotate, icon: 'refresh', onSelect: () => onRotate(key) },
            { label: texts.revoke, icon: 'trash', isDangerous: true, onSelect: () => onRevoke(key) },
          ]}
        >
          <Icon name="more" />
        </Menu>
      ),
  }
}

function Revoke({ businessId, revoked, onClose }: { businessId: string; revoked: Key; onClose: () => void }) {
  const texts = textsOf('settings')
  const client = useQueryClient()
  const revoke = async () => {
    const path = { businessId, keyId: revoked.keyId }
    await take(api.DELETE('/dashboard/api/b/{businessId}/keys/{keyId}', { params: { path } }))
    await client.invalidateQueries(keysQuery(businessId))
    showToast(texts.keyRevoked)
  }
  return (
    <Confirm title={texts.revokeTitle} action={texts.revoke} onConfirm={revoke} onClose={onClose}>
      <p>{texts.revokeText}</p>
      <p>
        <code dir="ltr">{nameOf(revoked)}</code>{' '}
        <span className="muted">
          {texts.lastUsed}: {revoked.lastUsedAt === null ? texts.never : <Time at={revoked.lastUsedAt} as="ago" />}
        </span>
      </p>
    </Confirm>
  )
}
