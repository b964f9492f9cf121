/**
 * A list of rows: a virtual grid for the keyboard and for screen readers. Only the visible rows are rendered, even of a
 * million.
 */
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { textsOf } from '../../texts/index.ts'
import { Skeleton } from '../feedback/loading.tsx'
import styles from './table.module.css'

export interface Column<Row> {
  key: string
  header: string
  /** The header is read aloud but not shown. For a column of buttons. */
  isHeaderHidden?: boolean
  cell: (row: Row) => ReactNode
  /** A track of a CSS grid: `minmax(160px, 2fr)`, `110px`. */
  width: string
  align?: 'start' | 'end'
  /** Wraps long text, and makes the row higher. Otherwise the text is cut. */
  isWrapped?: boolean
  /** Hides the column when the table is narrower than 640 px. */
  isSecondary?: boolean
}

export interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** Called on Enter or a click on the row. Also put a real link into the first cell, for new tabs. */
  onOpen?: (row: Row) => void
  /** Total number of rows, when the server knows it. It can be more than are loaded. */
  total?: number | undefined
  /** Called near the end of the rows, to load more. */
  onEnd?: (() => void) | undefined
  isLoading?: boolean
  /** Rows of placeholders while the table is loading. Use about the usual number of rows, so that little moves. */
  waitingRows?: number
  /** Shown when there are no rows. */
  empty?: ReactNode
  /** CSS length. The table scrolls within it. */
  height?: string
}

/** Width of a column of dates with times. On a telephone they need `isWrapped`, too. */
export const TIME_WIDTH = 'minmax(92px, 200px)'

const ROW_HEIGHT = 40
const NEAR_END = 20

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, onOpen, total, onEnd, isLoading = false, waitingRows = 8, empty, height } = props
  const frame = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const count = rows.length === 0 && isLoading ? waitingRows : rows.length
  // Measured heights move with their rows when others appear above them. With another function, all are looked up again.
  const itemKey = useCallback(
    (index: number) => {
      const row = rows[index]
      return row === undefined ? index : keyOf(row)
    },
    [rows, keyOf],
  )
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    getItemKey: itemKey,
  })
  const canGrow = columns.some(({ isWrapped }) => isWrapped)
  const shown = virtual.getVirtualItems()
  const lastShown = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (!isLoading && rows.length > 0 && lastShown >= rows.length - NEAR_END) onEnd?.()
  }, [isLoading, rows.length, lastShown, onEnd])
  if (rows.length === 0 && !isLoading) return <div className={styles['none']}>{empty}</div>

  const focusRow = (index: number) => {
    const at = Math.max(0, Math.min(index, rows.length - 1))
    setActive(at)
    virtual.scrollToIndex(at)
    // The row may have to be rendered first.
    requestAnimationFrame(() => frame.current?.querySelector<HTMLElement>(`[data-index="${at}"]`)?.focus())
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
    // Inside a cell, keys belong to the focused element.
    if (row === null || row !== event.target) return
    const at = Number(row.dataset['index'])
    const page = Math.max(1, Math.floor((frame.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2)
    const moves: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: rows.length - 1,
    }
    const next = moves[event.key]
    const opened = rows[at]
    if (next !== undefined) focusRow(next)
    else if (event.key === 'Enter' && opened !== undefined) onOpen?.(opened)
    else return
    event.preventDefault()
  }
  // Two templates: narrow tables omit the secondary columns.
  const tracks = {
    '--wide': columns.map(({ width }) => width).join(' '),
    '--narrow': columns
      .filter(({ isSecondary }) => !isSecondary)
      .map(({ width }) => width)
      .join(' '),
  }
  const cellClass = ({ align, isSecondary, isWrapped }: Column<Row>) =>
    [
      styles['cell'],
      align === 'end' && styles['end'],
      isSecondary && styles['secondary'],
      isWrapped && styles['wrapped'],
    ]
      .filter(Boolean)
      .join(' ')
  const tabRow = Math.min(active, Math.max(0, rows.length - 1))
  return (
    <div className={styles['outer']}>
      <div
        ref={frame}
        className={styles['frame']}
        style={{ ...tracks, ...(height !== undefined && { blockSize: height }) } as React.CSSProperties}
        role="grid"
        aria-label={label}
        aria-rowcount={(total ?? rows.length) + 1}
        aria-busy={isLoading}
        onKeyDown={onKeyDown}
      >
        <div role="rowgroup" className={styles['head']}>
          <div role="row" aria-rowindex={1} className={styles['row']}>
            {columns.map((column) => (
              <div key={column.key} role="columnheader" className={cellClass(column)}>
                <span className={column.isHeaderHidden ? 'visually-hidden' : undefined}>{column.header}</span>
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ blockSize: virtual.getTotalSize(), position: 'relative' }}>
          {shown.map(({ index, start }) => {
            const row = rows[index]
            return (
              <div
                key={row === undefined ? index : keyOf(row)}
                role="row"
                aria-rowindex={index + 2}
                data-index={index}
                ref={canGrow ? virtual.measureElement : undefined}
                tabIndex={row !== undefined && index === tabRow ? 0 : -1}
                className={`${styles['row']} ${styles['body']} ${onOpen ? styles['opens'] : ''} ${canGrow ? styles['grows'] : ''}`}
                style={{ transform: `translateY(${start}px)` }}
                onFocus={() => setActive(index)}
                onClick={(event) => {
                  if (row !== undefined && !isOwnTarget(event.target as HTMLElement)) onOpen?.(row)
                }}
              >
                {columns.map((column) => (
                  <div key={column.key} role="gridcell" className={cellClass(column)}>
                    {row === undefined ? <Skeleton width="60%" height="10px" /> : column.cell(row)}
                  </div>
                ))}
              </div>
            )
          })}
        </div>
      </div>
      <p className="visually-hidden" role="status">
        {isLoading ? textsOf('shell').loading : ''}
      </p>
    </div>
  )
}

/** True for links, buttons, fields and selected text: a click there must not open the row. */
const isOwnTarget = (target: HTMLElement): boolean =>
  target.closest('a, button, input, select, label') !== null || String(getSelection()) !== ''
