/** A board: its charts in a grid. They are read again each time it is opened. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, api, take } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Button, ButtonLink } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Menu } from '../../../parts/overlay/menu.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Board, type BoardChart, type BoardPath, boardQuery, boardsQuery } from '../queries.ts'
import type { BoardSearch } from '../search.ts'
import styles from './board.module.css'
import { type ChartActions, ChartCard, RenameDialog } from './chart-card.tsx'
import { LeaveMailDialog, useGetsMail } from './leave-mail-dialog.tsx'
import { MailDialog } from './mail-dialog.tsx'
import { isChangedMeanwhile, replaceChart, useChartChange, useRename } from './use-edit.ts'

export function BoardPage() {
  const texts = textsOf('boards')
  const path = useParams({ strict: false }) as BoardPath
  const { data, error, refetch } = useQuery(boardQuery(path))
  if (error instanceof ApiError && error.status === 404) return <NotFound />
  if (data === undefined)
    return (
      <Page title={texts.board} width="full">
        {error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  return <Shown key={path.boardId} path={path} board={data.board} />
}

function Shown({ path, board: stored }: { path: BoardPath; board: Board }) {
  const texts = textsOf('boards')
  const canEdit = useCan('boards:write')
  const { mail }: BoardSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const closeMail = () => void navigate({ to: '.', search: {}, replace: true, resetScroll: false })
  const { shown: board, change, refused } = useChartChange(path, stored)
  const last = refused.at(-1)
  const rename = useRename(path, stored)
  const [announcement, setAnnouncement] = useState('')
  const { charts } = board
  const move = (chart: BoardChart, by: -1 | 1) => {
    const at = charts.indexOf(chart)
    change({ id: chart.id, to: at + by })
    setAnnouncement(texts.moved(chart.title, formatNumber(at + by + 1)))
  }
  const actionsOf = (chart: BoardChart): ChartActions => ({
    move: (by) => move(chart, by),
    resize: () => change({ id: chart.id, size: chart.size === 'half' ? 'full' : 'half' }),
    remove: () => change({ id: chart.id, isRemoved: true }),
    rename: (title) => rename((now) => ({ ...now, charts: replaceChart(now, chart.id, { title }) })),
  })
  return (
    <Page
      title={board.name}
      width="full"
      actions={
        <BoardActions
          path={path}
          board={board}
          canEdit={canEdit}
          onRename={(name) => rename((now) => ({ ...now, name }))}
        />
      }
    >
      {last !== undefined && (
        <ErrorBox error={last.error} text={isChangedMeanwhile(last.error) ? texts.changed : undefined} />
      )}
      {charts.length === 0 ? (
        <Empty
          icon="board"
          title={texts.emptyTitle}
          actions={
            canEdit && (
              <ButtonLink to="/dashboard/b/$businessId/analytics" params={path} icon="chart">
                {texts.toAnalytics}
              </ButtonLink>
            )
          }
        >
          {texts.empty}
        </Empty>
      ) : (
        <div className={styles['grid']}>
          {charts.map((chart, at) => (
            <ChartCard
              key={chart.id}
              chart={chart}
              isFirst={at === 0}
              isLast={at === charts.length - 1}
              actions={canEdit ? actionsOf(chart) : undefined}
            />
          ))}
        </div>
      )}
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
      {mail === true && canEdit && <MailDialog path={path} board={board} onClose={closeMail} />}
      {mail === true && !canEdit && <LeaveMailDialog path={path} board={board} onClose={closeMail} />}
    </Page>
  )
}

interface BoardActionsProps {
  path: BoardPath
  board: Board
  canEdit: boolean
  onRename: (name: string) => Promise<unknown>
}

function BoardActions({ path, board, canEdit, onRename }: BoardActionsProps) {
  const texts = textsOf('boards')
  const client = useQueryClient()
  const navigate = useNavigate()
  const getsMail = useGetsMail(board)
  const [open, setOpen] = useState<'rename' | 'remove' | null>(null)
  const close = () => setOpen(null)
  const remove = async () => {
    await take(api.DELETE('/dashboard/api/b/{businessId}/boards/{boardId}', { params: { path } }))
    await client.invalidateQueries(boardsQuery(path.businessId))
    await navigate({ to: '/dashboard/b/$businessId/boards', params: path })
  }
  return (
    <>
      <Button
        icon="refresh"
        onClick={() => void client.invalidateQueries({ queryKey: ['board-chart', path.businessId] })}
      >
        {texts.refresh}
      </Button>
      {(canEdit || getsMail) && (
        <Button
          icon="mail"
          aria-pressed={board.mail.isOn}
          onClick={() => void navigate({ to: '.', search: { mail: true }, resetScroll: false })}
        >
          {texts.weeklyMail}
        </Button>
      )}
      {canEdit && (
        <Menu
          label={texts.more}
          items={[
            { label: texts.rename, icon: 'edit', onSelect: () => setOpen('rename') },
            { label: texts.remove, icon: 'trash', isDangerous: true, onSelect: () => setOpen('remove') },
          ]}
          className={styles['menu']}
        >
          <Icon name="more" />
        </Menu>
      )}
      {open === 'rename' && (
        <RenameDialog label={texts.name} name={board.name} field="name" onSave={onRename} onClose={close} />
      )}
      {open === 'remove' && (
        <Confirm title={texts.remove} action={texts.remove} onConfirm={remove} onClose={close}>
          {texts.removeText(board.name)}
        </Confirm>
      )}
    </>
  )
}
