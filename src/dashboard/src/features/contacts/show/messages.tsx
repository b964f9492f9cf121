/** The messages that campaigns have sent to the contact or omitted, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Message, MessageDialog, MessageStateBadge, describeReason, messagesQuery } from '../../campaigns/links.ts'
import type { ContactPath, Detail } from './queries.ts'

interface MessagesProps {
  path: ContactPath
  names: Detail['campaignNames']
}

export function Messages({ path: { businessId, contactId }, names }: MessagesProps) {
  const texts = textsOf('campaigns')
  const list = useInfiniteQuery(messagesQuery(businessId, { contactId }))
  const [openedId, setOpenedId] = useState<string | null>(null)
  const rows: Message[] = list.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <Section title={texts.messages}>
      {list.isPending && <Loading lines={1} />}
      {list.isSuccess && rows.length === 0 && <p className="muted">{texts.noneToContact}</p>}
      {(list.isError || rows.length > 0) && (
        <PagedTable
          list={list}
          label={texts.messages}
          columns={columnsOf(businessId, names)}
          rows={rows}
          keyOf={({ messageId }) => messageId}
          onOpen={({ messageId }) => setOpenedId(messageId)}
          height={`min(${HEAD + rows.length * ROW}px, 240px)`}
        />
      )}
      {openedId !== null && (
        <MessageDialog businessId={businessId} messageId={openedId} onClose={() => setOpenedId(null)} />
      )}
    </Section>
  )
}

/** Heights of a table's head and rows in px. */
const HEAD = 34
const ROW = 40

function columnsOf(businessId: string, names: Detail['campaignNames']): Column<Message>[] {
  const texts = textsOf('campaigns')
  return [
    {
      key: 'campaign',
      header: texts.name,
      width: 'minmax(110px, 2fr)',
      cell: ({ campaignId }) =>
        campaignId === null ? (
          texts.sendCall
        ) : (
          <Link
            to="/dashboard/b/$businessId/campaigns/$campaignId"
            params={{ businessId, campaignId }}
            tabIndex={-1}
            className="foreign"
          >
            {names[campaignId] ?? campaignId}
          </Link>
        ),
    },
    {
      key: 'state',
      header: texts.state,
      width: '130px',
      cell: ({ state }) => <MessageStateBadge state={state} />,
    },
    {
      key: 'channel',
      header: texts.channel,
      width: '100px',
      isSecondary: true,
      cell: ({ channel }) => texts.channels[channel],
    },
    {
      key: 'reason',
      header: texts.reason,
      width: 'minmax(100px, 1fr)',
      isSecondary: true,
      cell: ({ reason }) => reason !== null && describeReason(reason),
    },
    {
      key: 'when',
      header: texts.when,
      width: TIME_WIDTH,
      isSecondary: true,
      cell: ({ sentAt, states }) => <Time at={sentAt ?? states[0]?.at ?? ''} />,
    },
  ]
}
