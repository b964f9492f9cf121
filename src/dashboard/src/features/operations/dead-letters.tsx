/** Requests that could not be applied, with buttons to replay or delete them. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../client.ts'
import { formatNumber } from '../../format.ts'
import { Badge } from '../../parts/value/badge.tsx'
import { Button } from '../../parts/action/button.tsx'
import { Confirm } from '../../parts/overlay/confirm.tsx'
import { Dialog } from '../../parts/overlay/dialog.tsx'
import { Empty } from '../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { Section } from '../../parts/page/page.tsx'
import { type Column, TIME_WIDTH, Table } from '../../parts/list/table.tsx'
import { showError, showToast } from '../../parts/feedback/toast.tsx'
import { Time } from '../../parts/value/values.tsx'
import { textsOf } from '../../texts/index.ts'
import { type DeadLetter, deadLettersQuery } from './queries.ts'

/** Most dead letters in one request to the server. */
const AT_ONCE = 50

export function DeadLetters() {
  const texts = textsOf('operations')
  const { data, error, isPending, refetch } = useQuery(deadLettersQuery)
  const [openedId, setOpenedId] = useState<string | null>(null)
  const [isReplaying, setReplaying] = useState(false)
  const letters = data?.deadLetters ?? []
  const opened = letters.find(({ id }) => id === openedId)
  async function replayAll() {
    setReplaying(true)
    await replay(letters.map(({ id }) => id)).catch(showError)
    setReplaying(false)
    await refetch()
  }
  const action = (
    <Button isPending={isReplaying} onClick={() => void replayAll()}>
      {texts.replayAll}
    </Button>
  )
  return (
    <Section
      title={texts.deadLetters}
      intro={data?.isTruncated === true ? texts.truncated(formatNumber(letters.length)) : texts.deadLettersIntro}
      actions={letters.length > 0 && action}
    >
      <ErrorBox error={error} onRetry={() => void refetch()} />
      <Table
        label={texts.deadLetters}
        columns={columnsOf()}
        rows={letters}
        keyOf={({ id }) => id}
        onOpen={({ id }) => setOpenedId(id)}
        isLoading={isPending}
        empty={<Empty icon="check" title={texts.noDeadLetters} />}
      />
      {opened !== undefined && <LetterDialog letter={opened} onClose={() => setOpenedId(null)} />}
    </Section>
  )
}

async function replay(ids: string[]): Promise<void> {
  const texts = textsOf('operations')
  let applied = 0
  const reasons = new Set<string>()
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const body = { deadLetterIds: ids.slice(from, from + AT_ONCE) }
    const { results } = await take(api.POST('/dashboard/api/operations/dead-letters/replay', { body }))
    for (const { outcome, reason } of results) {
      if (outcome === 'applied' || outcome === 'queued') applied += 1
      else reasons.add(reason ?? texts.outcomes[outcome])
    }
  }
  const counted = texts.replayed(formatNumber(applied), formatNumber(ids.length))
  if (applied === ids.length) showToast(counted)
  else showToast(`${counted} ${[...reasons].join(' ')}`, { kind: 'bad' })
}

function LetterDialog({ letter, onClose }: { letter: DeadLetter; onClose: () => void }) {
  const texts = textsOf('operations')
  const client = useQueryClient()
  const [isDropping, setDropping] = useState(false)
  const [isReplaying, setReplaying] = useState(false)
  const { id, kind, reason, businessId, createdAt, receivedAt } = letter
  async function replayOne() {
    setReplaying(true)
    await replay([id]).catch(showError)
    await client.invalidateQueries(deadLettersQuery)
    onClose()
  }
  async function drop() {
    await take(api.POST('/dashboard/api/operations/dead-letters/drop', { body: { deadLetterIds: [id] } }))
    await client.invalidateQueries(deadLettersQuery)
    showToast(texts.dropped)
  }
  if (isDropping) {
    return (
      <Confirm title={texts.drop} action={texts.drop} onConfirm={drop} onClose={onClose}>
        {texts.dropText}
      </Confirm>
    )
  }
  return (
    <Dialog title={texts.deadLetter} size="wide" onClose={onClose}>
      <div className="stack">
        <p className="row">
          <Badge>{kind}</Badge> <Time at={receivedAt ?? createdAt} />
        </p>
        <p className="foreign">{reason}</p>
        {businessId !== null && (
          <p className="muted small">
            {texts.business} <code>{businessId}</code>
          </p>
        )}
        <div className="actions">
          <Button kind="danger" onClick={() => setDropping(true)}>
            {texts.drop}
          </Button>
          <Button kind="primary" isPending={isReplaying} onClick={() => void replayOne()}>
            {texts.replay}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function columnsOf(): Column<DeadLetter>[] {
  const texts = textsOf('operations')
  return [
    {
      key: 'created',
      header: texts.createdAt,
      width: TIME_WIDTH,
      isWrapped: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    { key: 'kind', header: texts.kind, width: '110px', isSecondary: true, cell: ({ kind }) => <Badge>{kind}</Badge> },
    {
      key: 'reason',
      header: texts.reason,
      width: 'minmax(140px, 2fr)',
      isWrapped: true,
      cell: ({ reason }) => <bdi className="foreign">{reason}</bdi>,
    },
  ]
}
