/**
 * Changes the board that is shown. If another person has saved in the meantime, the board is read again, and their
 * change is kept.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError, api, take } from '../../../client.ts'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { scopeOf, useOptimistic } from '../../../parts/action/use-optimistic.ts'
import { textsOf } from '../../../texts/index.ts'
import { moveTo } from '../move-to.ts'
import { type Board, type BoardChart, type BoardPath, boardQuery, boardsQuery } from '../queries.ts'

type Read = { board: Board }
type Edit = (board: Board) => Board

const send = (path: BoardPath, { version, name, charts }: Board): Promise<Read> =>
  take(
    api.PUT('/dashboard/api/b/{businessId}/boards/{boardId}', {
      params: { path },
      body: { version, name, charts: charts.map(({ id, title, size }) => ({ id, title, size })) },
    }),
  )

export const isChangedMeanwhile = (error: Error): boolean => error instanceof ApiError && error.code === 'locked'

/** For renaming in a dialog. Rejects with the error, which the dialog shows. */
export function useRename(path: BoardPath, board: Board): (edit: Edit) => Promise<unknown> {
  const client = useQueryClient()
  const { queryKey } = boardQuery(path)
  const { mutateAsync } = useMutation({
    scope: scopeOf(queryKey),
    mutationFn: (edit: Edit) => send(path, edit(client.getQueryData(queryKey)?.board ?? board)),
    onSuccess: (read) => {
      client.setQueryData(queryKey, read)
      void client.invalidateQueries(boardsQuery(path.businessId))
    },
    onError: (failed) => {
      if (!isChangedMeanwhile(failed)) return
      showToast(textsOf('boards').changed, { kind: 'bad' })
      void client.invalidateQueries({ queryKey })
    },
  })
  return mutateAsync
}

export type ChartChange = { id: string } & ({ to: number } | { size: BoardChart['size'] } | { isRemoved: true })

const changeChart = (board: Board, change: ChartChange): Board => {
  const { id } = change
  if ('to' in change) return { ...board, charts: moveTo(board.charts, id, change.to) }
  if ('isRemoved' in change) return { ...board, charts: board.charts.filter((one) => one.id !== id) }
  return { ...board, charts: replaceChart(board, id, { size: change.size }) }
}

export const replaceChart = ({ charts }: Board, id: string, change: Partial<BoardChart>): BoardChart[] =>
  charts.map((one) => (one.id === id ? { ...one, ...change } : one))

/** Moves, resizes and removes charts. The change is shown at once. */
export function useChartChange(path: BoardPath, board: Board) {
  const client = useQueryClient()
  const { shown, ...rest } = useOptimistic<Read, ChartChange, Read>(
    { board },
    {
      queryKey: boardQuery(path).queryKey,
      send: (change, stored) => send(path, changeChart(stored.board, change)),
      show: (read, change) => ({ board: changeChart(read.board, change) }),
      keep: (answer) => answer,
      onDone: () => void client.invalidateQueries(boardsQuery(path.businessId)),
    },
  )
  return { ...rest, shown: shown.board }
}
