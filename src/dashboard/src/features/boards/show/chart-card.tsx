/** A chart of the board. It loads on its own, and a menu changes it. */
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { ApiError } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Menu, type MenuItem } from '../../../parts/overlay/menu.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { chartErrorText } from '../../analytics/links.ts'
import type { BoardChart } from '../queries.ts'
import styles from './board.module.css'
import { type ShownChart, chartQuery } from './read-chart.ts'
import { ChartView, isEmpty } from './views.tsx'

interface ChartCardProps {
  chart: BoardChart
  isFirst: boolean
  isLast: boolean
  /** Undefined for people who may only read the board. */
  actions: ChartActions | undefined
}

export interface ChartActions {
  move: (by: -1 | 1) => void
  resize: () => void
  remove: () => void
  /** Rejects when the server rejects the title. */
  rename: (title: string) => Promise<unknown>
}

export function ChartCard({ chart, isFirst, isLast, actions }: ChartCardProps) {
  const texts = textsOf('boards')
  const [isRenaming, setRenaming] = useState(false)
  const { title, size, days } = chart
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.altKey ? STEPS[event.key] : undefined
    if (by === undefined || actions === undefined) return
    event.preventDefault()
    const step = by === 'next' ? 1 : by === 'before' ? -1 : forwardTo(event.key)
    if (!(step === 1 ? isLast : isFirst)) actions.move(step)
  }
  return (
    <section
      id={`chart-${chart.id}`}
      className={`card ${styles['card']} ${size === 'full' ? styles['full'] : ''}`}
      aria-label={title}
      onKeyDown={onKeyDown}
    >
      <div className={styles['head']}>
        <h2 title={title}>
          <bdi className="foreign">{title}</bdi>
        </h2>
        <span className={`muted small ${styles['range']}`}>{days !== null && texts.lastDays(formatNumber(days))}</span>
        <ChartMenu
          chart={chart}
          isFirst={isFirst}
          isLast={isLast}
          actions={actions}
          onRename={() => setRenaming(true)}
        />
      </div>
      <div className={styles['body']}>
        {chart.query === null ? <Empty icon="lock" title={texts.hidden} /> : <Loaded chart={chart as ShownChart} />}
      </div>
      {isRenaming && actions !== undefined && (
        <RenameDialog
          label={texts.chartTitle}
          name={title}
          field="title"
          onSave={actions.rename}
          onClose={() => setRenaming(false)}
        />
      )}
    </section>
  )
}

/** Moves by Alt and an arrow key. The left and right keys follow the reading direction of the page. */
const STEPS: Record<string, 'next' | 'before' | 'aside'> = {
  ArrowDown: 'next',
  ArrowUp: 'before',
  ArrowLeft: 'aside',
  ArrowRight: 'aside',
}
const forwardTo = (key: string): -1 | 1 =>
  (key === 'ArrowRight') === (document.documentElement.dir !== 'rtl') ? 1 : -1

function ChartMenu({ chart, isFirst, isLast, actions, onRename }: ChartCardProps & { onRename: () => void }) {
  const texts = textsOf('boards')
  const openPage = useOpenPage(chart.page)
  const items: MenuItem[] = []
  if (openPage !== undefined) items.push({ label: texts.openChart, icon: 'external', onSelect: openPage })
  if (actions !== undefined) {
    items.push({ label: texts.rename, icon: 'edit', onSelect: onRename })
    if (!isFirst) items.push({ label: texts.earlier, icon: 'up', onSelect: () => actions.move(-1) })
    if (!isLast) items.push({ label: texts.later, icon: 'down', onSelect: () => actions.move(1) })
    const resized = chart.size === 'half' ? texts.makeFull : texts.makeHalf
    items.push({ label: resized, icon: 'board', onSelect: actions.resize })
    items.push({ label: texts.removeChart, icon: 'trash', isDangerous: true, onSelect: actions.remove })
  }
  if (items.length === 0) return null
  return (
    <Menu label={texts.chartMenu(chart.title)} items={items} className={styles['menu']}>
      <Icon name="more" />
    </Menu>
  )
}

/** Opens the page on which the chart was made, with its choices. */
function useOpenPage(page: string | null): (() => void) | undefined {
  const { id: businessId } = useBusiness()
  const navigate = useNavigate()
  const { options } = useRouter()
  if (page === null) return undefined
  const [path = '', search = ''] = page.split(/\?(.*)/s)
  return () =>
    void navigate({
      to: `/dashboard/b/${businessId}/${path}`,
      search: options.parseSearch?.(search) ?? {},
    })
}

function Loaded({ chart }: { chart: ShownChart }) {
  const texts = textsOf('boards')
  const client = useQueryClient()
  const { id: businessId, timezone } = useBusiness()
  const { data, error, refetch, isFetching } = useQuery(chartQuery({ client, businessId, timezone }, chart))
  if (error !== null && !isFetching)
    return <ErrorBox error={error} text={wordsOf(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading lines={7} />
  return (
    <div aria-busy={isFetching} className={isFetching ? styles['stale'] : undefined}>
      {isEmpty(chart, data) ? <Empty icon="chart" title={texts.nothing} /> : <ChartView chart={chart} data={data} />}
    </div>
  )
}

function wordsOf(error: Error): string | undefined {
  const texts = textsOf('boards')
  if (!(error instanceof ApiError)) return undefined
  const words: Record<string, string> = {
    not_found: texts.gone,
    not_permitted: texts.hidden,
    invalid_request: texts.refused,
  }
  return chartErrorText(error) ?? words[error.code]
}

interface RenameDialogProps {
  label: string
  name: string
  /** Path of the field in the server's issues. */
  field: string
  onSave: (name: string) => Promise<unknown>
  onClose: () => void
}

export function RenameDialog({ label, name, field, onSave, onClose }: RenameDialogProps) {
  const form = useForm(async (values) => {
    await onSave((values[field] ?? '').trim())
    onClose()
  })
  return (
    <FormDialog title={textsOf('boards').rename} form={form} onClose={onClose}>
      <TextField name={field} label={label} required maxLength={100} defaultValue={name} error={form.issueOf(field)} />
    </FormDialog>
  )
}
