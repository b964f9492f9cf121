/** Downloads the members as a CSV file, which the page makes. Closing the page ends the export. */
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, take } from '../../../client.ts'
import { csvText } from '../../../csv.ts'
import { download } from '../../../download.ts'
import { formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { showError, showToast } from '../../../parts/feedback/toast.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Segment, SegmentPath } from '../queries.ts'

const PAGE_SIZE = 500

type CsvRow = (string | null)[]

export function ExportMembers({ path, segment }: { path: SegmentPath; segment: Segment }) {
  const texts = textsOf('segments')
  const [count, setCount] = useState(0)
  const closed = useRef<AbortController>(null)
  useEffect(() => () => closed.current?.abort(), [])
  const { mutate, isPending } = useMutation({
    mutationFn: () => readAll(path, (closed.current = new AbortController()).signal, setCount),
    onSuccess: (rows) => {
      download(`${fileNameOf(segment.name)}.csv`, csvText([headerOf(), ...rows]))
      showToast(texts.exported(formatNumber(rows.length)))
    },
    onError: (error) => {
      if (closed.current?.signal.aborted !== true) showError(error)
    },
  })
  return (
    <>
      <span className="muted small" role="status">
        {isPending && count > 0 && texts.exporting(formatNumber(count))}
      </span>
      <Button icon="import" isPending={isPending} onClick={() => mutate()}>
        {texts.exportMembers}
      </Button>
    </>
  )
}

async function readAll(path: SegmentPath, signal: AbortSignal, onRead: (count: number) => void): Promise<CsvRow[]> {
  const rows: CsvRow[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await readPage(path, cursor, signal)
    rows.push(...page.rows)
    onRead(rows.length)
    cursor = page.nextCursor
  }
  return rows
}

async function readPage(path: SegmentPath, cursor: string, signal: AbortSignal) {
  const query = { limit: PAGE_SIZE, ...(cursor !== '' && { cursor }) }
  const { members, nextCursor } = await take(
    api.GET('/dashboard/api/b/{businessId}/segments/{segmentId}/export', { params: { path, query }, signal }),
  )
  const rows = members.map(({ contactId, firstName, lastName, identities, enteredAt, cause }): CsvRow => {
    const { email, phone, platformCustomerId } = identities
    const addresses = [email, phone, platformCustomerId].map(([primary = null]) => primary)
    return [contactId, firstName, lastName, ...addresses, enteredAt, cause]
  })
  return { rows, nextCursor }
}

function headerOf(): string[] {
  const { contactId, firstName, lastName, email, phone, platformCustomerId, enteredAt, cause } = textsOf('segments')
  return [contactId, firstName, lastName, email, phone, platformCustomerId, enteredAt, cause]
}

/** Keeps only characters that every file system allows, and no leading dot, which would hide the file. */
const fileNameOf = (name: string): string => name.replaceAll(/[^\p{L}\p{N} _-]/gu, '').trim() || 'segment'
