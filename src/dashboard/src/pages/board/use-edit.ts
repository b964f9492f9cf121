/** Changes the board as it is shown. When another person was faster, it is read again, and nothing of theirs is lost. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError, api, take } from '../../client.ts'
import { showError, showToast } from '../../parts/toast.tsx'
import { textsOf } from '../../texts/index.ts'
import { type Board, type BoardPath, boardQuery, boardsQuery } from '../boards/queries.ts'

export type Edit = Partial<Pick<Board, 'name' | 'charts'>>

/** Shows its own errors. `isPending`: one change after the other. */
export function useEdit(path: BoardPath, board: Board) {
  const client = useQueryClient()
  const { queryKey } = boardQuery(path)
  const { mutateAsync, isPending } = useMutation({
    mutationFn: ({ name = board.name, charts = board.charts }: Edit) =>
      take(
        api.PUT('/dashboard/api/b/{businessId}/boards/{boardId}', {
          params: { path },
          body: { version: board.version, name, charts: charts.map(({ id, title, size }) => ({ id, title, size })) },
        }),
      ),
    onSuccess: (data) => {
      client.setQueryData(queryKey, data)
      void client.invalidateQueries(boardsQuery(path.businessId))
    },
    onError: (failed) => {
      const isChanged = failed instanceof ApiError && failed.code === 'locked'
      if (isChanged) showToast(textsOf('boards').changed, { kind: 'bad' })
      if (isChanged) void client.invalidateQueries({ queryKey })
    },
  })
  return {
    isPending,
    /** Rejects with the error, after a change of another person without one. */
    save: mutateAsync,
    change: (edit: Edit) => {
      if (!isPending)
        mutateAsync(edit).catch((failed: Error) => {
          if (!(failed instanceof ApiError && failed.code === 'locked')) showError(failed)
        })
    },
  }
}
