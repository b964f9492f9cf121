/**
 * Saves the chart of a page to a board. A page needs only this line: `<SaveToBoard kind="…" query={…} title={…} />`.
 */
import { useLocation, useSearch } from '@tanstack/react-router'
import { Suspense, lazy, useState } from 'react'
import { Button } from '../../parts/action/button.tsx'
import { useBusiness, useCan } from '../../session/session.ts'
import { loadTexts, textsOf } from '../../texts/index.ts'
import type { BoardChart } from './queries.ts'

interface SaveToBoardProps {
  kind: BoardChart['kind']
  /** Query that the page sends to the endpoint of the chart. Null while a choice is missing. */
  query: object | null
  /** Proposed title. */
  title: string
}

const DEFAULT_DAYS = 30

const SaveDialog = lazy(async () => {
  const [{ SaveDialog: loaded }] = await Promise.all([import('./save-dialog.tsx'), loadTexts('boards')])
  return { default: loaded }
})

export function SaveToBoard({ kind, query, title }: SaveToBoardProps) {
  const texts = textsOf('shell')
  const { id: businessId } = useBusiness()
  const { pathname, searchStr } = useLocation()
  const search: { from?: string; days?: number } = useSearch({ strict: false })
  const [isOpen, setOpen] = useState(false)
  const canEdit = useCan('boards:write')
  if (!canEdit || query === null) return null
  const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  // "The last days" stay relative to the day on which the board is opened.
  const isRelative = search.from === undefined && asked.some(([name]) => name === 'from')
  const kept = isRelative ? asked.filter(([name]) => name !== 'from' && name !== 'to') : asked
  const page = pathname.split(`/b/${businessId}/`)[1] ?? ''
  return (
    <>
      <Button icon="board" onClick={() => setOpen(true)}>
        {texts.saveToBoard}
      </Button>
      {isOpen && (
        <Suspense>
          <SaveDialog
            businessId={businessId}
            chart={{
              title,
              kind,
              query: Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
              ...(isRelative && { days: search.days ?? DEFAULT_DAYS }),
              page: page + searchStr,
            }}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}
