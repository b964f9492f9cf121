/** All boards of the business, in the order that people have given them. */
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { ListPage } from '../../../parts/list/list-page.tsx'
import type { Column } from '../../../parts/list/table.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useOptimistic } from '../../../parts/action/use-optimistic.ts'
import { Num } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { useShortcut } from '../../../parts/action/shortcuts.ts'
import { textsOf } from '../../../texts/index.ts'
import { moveTo } from '../move-to.ts'
import { type ListedBoard, boardsQuery } from '../queries.ts'
import { createBoard } from '../save-dialog.tsx'

export function BoardsPage() {
  const texts = textsOf('boards')
  const { id: businessId } = useBusiness()
  const canEdit = useCan('boards:write')
  const navigate = useNavigate()
  const list = useQuery(boardsQuery(businessId))
  const { shown, change, refused } = useOrder(businessId, list.data)
  const boards = shown?.boards ?? []
  const move = (id: string, by: -1 | 1) => change({ id, to: boards.findIndex((one) => one.id === id) + by })
  const open = (boardId: string) =>
    void navigate({ to: '/dashboard/b/$businessId/boards/$boardId', params: { businessId, boardId } })
  const create = canEdit && <CreateBoard businessId={businessId} onCreated={open} />
  return (
    <ListPage
      title={texts.title}
      intro={texts.intro}
      list={list}
      actions={boards.length > 0 && create}
      columns={columnsOf({ businessId, boards, move: canEdit ? move : undefined })}
      rows={boards}
      keyOf={({ id }) => id}
      onOpen={({ id }) => open(id)}
      empty={
        <Empty icon="board" title={texts.noneTitle} actions={create}>
          {texts.none}
        </Empty>
      }
    >
      <ErrorBox error={refused.at(-1)?.error ?? null} />
    </ListPage>
  )
}

/** Moves a board to another place. */
function useOrder(businessId: string, read: { boards: ListedBoard[] } | undefined) {
  const params = { path: { businessId } }
  return useOptimistic(read, {
    queryKey: boardsQuery(businessId).queryKey,
    send: ({ id, to }: { id: string; to: number }, { boards }) => {
      const ids = moveTo(boards, id, to).map((one) => one.id)
      return take(api.PUT('/dashboard/api/b/{businessId}/boards', { params, body: { ids } }))
    },
    show: ({ boards }, { id, to }) => ({ boards: moveTo(boards, id, to) }),
    keep: (answer) => answer,
  })
}

interface Listing {
  businessId: string
  boards: readonly ListedBoard[]
  move: ((id: string, by: -1 | 1) => void) | undefined
}

function columnsOf({ businessId, boards, move }: Listing): Column<ListedBoard>[] {
  const texts = textsOf('boards')
  return [
    {
      key: 'name',
      header: texts.name,
      width: 'minmax(120px, 3fr)',
      cell: ({ id, name }) => (
        <Link
          to="/dashboard/b/$businessId/boards/$boardId"
          params={{ businessId, boardId: id }}
          tabIndex={-1}
          className="foreign"
        >
          {name}
        </Link>
      ),
    },
    {
      key: 'charts',
      header: texts.charts,
      width: '90px',
      align: 'end',
      cell: ({ chartCount }) => <Num value={chartCount} />,
    },
    {
      key: 'mail',
      header: texts.mail,
      width: '150px',
      isSecondary: true,
      cell: ({ isWeekly }) => isWeekly && <Badge kind="good">{texts.mondays}</Badge>,
    },
    ...(move === undefined ? [] : [moveColumn(boards, move)]),
  ]
}

const moveColumn = (boards: readonly ListedBoard[], move: (id: string, by: -1 | 1) => void): Column<ListedBoard> => ({
  key: 'move',
  header: textsOf('boards').order,
  isHeaderHidden: true,
  width: '84px',
  align: 'end',
  cell: ({ id, name }) => (
    <>
      <Button
        kind="quiet"
        size="small"
        icon="up"
        aria-label={textsOf('boards').moveUp(name)}
        disabled={boards[0]?.id === id}
        onClick={() => move(id, -1)}
      />
      <Button
        kind="quiet"
        size="small"
        icon="down"
        aria-label={textsOf('boards').moveDown(name)}
        disabled={boards.at(-1)?.id === id}
        onClick={() => move(id, 1)}
      />
    </>
  ),
})

function CreateBoard({ businessId, onCreated }: { businessId: string; onCreated: (id: string) => void }) {
  const texts = textsOf('boards')
  const [isOpen, setOpen] = useState(false)
  useShortcut('n', texts.create, () => setOpen(true))
  return (
    <>
      <Button kind="primary" icon="plus" onClick={() => setOpen(true)}>
        {texts.create}
      </Button>
      {isOpen && <CreateDialog businessId={businessId} onCreated={onCreated} onClose={() => setOpen(false)} />}
    </>
  )
}

interface CreateDialogProps {
  businessId: string
  onCreated: (id: string) => void
  onClose: () => void
}

function CreateDialog({ businessId, onCreated, onClose }: CreateDialogProps) {
  const texts = textsOf('boards')
  const client = useQueryClient()
  const form = useForm(async ({ name = '' }) => {
    const id = await createBoard(businessId, name.trim())
    await client.invalidateQueries(boardsQuery(businessId))
    onCreated(id)
  })
  return (
    <FormDialog title={texts.create} form={form} onClose={onClose}>
      <TextField
        name="name"
        label={texts.name}
        hint={texts.shared}
        required
        maxLength={100}
        error={form.issueOf('name')}
      />
    </FormDialog>
  )
}
