/** Chooses the board and the title for a chart. */
import { DialogForm } from '../../parts/overlay/form-dialog.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../client.ts'
import { Dialog } from '../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Loading } from '../../parts/feedback/loading.tsx'
import { showToast } from '../../parts/feedback/toast.tsx'
import { useForm } from '../../parts/form/use-form.ts'
import { textsOf } from '../../texts/index.ts'
import { type BoardChart, boardQuery, boardsQuery } from './queries.ts'

export interface NewChart extends Pick<BoardChart, 'title' | 'kind'> {
  query: Record<string, string>
  days?: number
  page: string
}

interface SaveDialogProps {
  businessId: string
  chart: NewChart
  onClose: () => void
}

const NEW = 'new'

export function SaveDialog({ businessId, chart, onClose }: SaveDialogProps) {
  const texts = textsOf('boards')
  const { data, error, refetch } = useQuery(boardsQuery(businessId))
  return (
    <Dialog title={texts.saveTitle} onClose={onClose}>
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : (
          <ErrorBox error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <SaveForm businessId={businessId} chart={chart} boards={data.boards} onClose={onClose} />
      )}
    </Dialog>
  )
}

function SaveForm({
  businessId,
  chart,
  boards,
  onClose,
}: SaveDialogProps & { boards: { id: string; name: string }[] }) {
  const texts = textsOf('boards')
  const client = useQueryClient()
  const navigate = useNavigate()
  const [chosen, setChosen] = useState(boards[0]?.id ?? NEW)
  const form = useForm(async ({ title = '', name = '', size }) => {
    const boardId = chosen === NEW ? await createBoard(businessId, name.trim()) : chosen
    // The new board exists now. If saving the chart fails, the next attempt uses that board.
    if (chosen === NEW) await client.invalidateQueries(boardsQuery(businessId)).then(() => setChosen(boardId))
    const params = { path: { businessId, boardId } }
    const body = { ...chart, title: title.trim(), size: size === 'full' ? ('full' as const) : ('half' as const) }
    await take(api.POST('/dashboard/api/b/{businessId}/boards/{boardId}/charts', { params, body }))
    await Promise.all([
      client.invalidateQueries(boardsQuery(businessId)),
      client.invalidateQueries(boardQuery(params.path)),
    ])
    const open = () => void navigate({ to: '/dashboard/b/$businessId/boards/$boardId', params: params.path })
    showToast(texts.savedToBoard, { action: { label: texts.openBoard, run: open } })
    onClose()
  })
  return (
    <DialogForm form={form} onClose={onClose}>
      <TextField
        name="title"
        label={texts.chartTitle}
        required
        maxLength={100}
        defaultValue={chart.title.slice(0, 100)}
        error={form.issueOf('title')}
      />
      <SelectField
        name="board"
        label={texts.board}
        value={chosen}
        options={[...boards.map(({ id, name }) => ({ value: id, label: name })), { value: NEW, label: texts.newBoard }]}
        onChange={({ target }) => setChosen(target.value)}
      />
      {chosen === NEW && (
        <TextField name="name" label={texts.name} required maxLength={100} error={form.issueOf('name')} />
      )}
      <SelectField
        name="size"
        label={texts.size}
        defaultValue="half"
        options={(['half', 'full'] as const).map((value) => ({ value, label: texts.sizes[value] }))}
      />
    </DialogForm>
  )
}

export async function createBoard(businessId: string, name: string): Promise<string> {
  const params = { path: { businessId } }
  const { board } = await take(api.POST('/dashboard/api/b/{businessId}/boards', { params, body: { name } }))
  return board.id
}
