/** Messages that a channel with the provider `log` has stored instead of sending them. */
import { type MessageChannel, MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { Content } from '../../templates/links.ts'
import { type LoggedMessage, logQuery } from './queries.ts'

export function ChannelLog({ channel }: { channel: MessageChannel }) {
  const texts = textsOf('channels')
  const { channels } = textsOf('campaigns')
  const { id: businessId } = useBusiness()
  const navigate = useNavigate()
  const list = useInfiniteQuery(logQuery(businessId, channel))
  const [openedId, setOpenedId] = useState<string | null>(null)
  const rows = list.data?.pages.flatMap(({ messages }) => messages) ?? []
  const opened = rows.find(({ messageId }) => messageId === openedId)
  return (
    <>
      <p className="muted">{texts.logText}</p>
      <search style={{ maxInlineSize: 240 }}>
        <SelectField
          name="channel"
          label={texts.channel}
          value={channel}
          options={MESSAGE_CHANNELS.map((value) => ({ value, label: channels[value] }))}
          onChange={({ target }) => {
            const log = MESSAGE_CHANNELS.find((one) => one === target.value)
            void navigate({ to: '.', search: { log }, replace: true, resetScroll: false })
          }}
        />
      </search>
      <PagedTable
        list={list}
        label={texts.log}
        columns={columnsOf()}
        rows={rows}
        keyOf={({ messageId }) => messageId}
        onOpen={({ messageId }) => setOpenedId(messageId)}
        empty={<Empty icon="send" title={texts.noLog} />}
      />
      {opened !== undefined && (
        <Dialog title={channels[channel]} size="wide" onClose={() => setOpenedId(null)}>
          <p>
            {texts.to}: <bdi className="foreign">{opened.to}</bdi>
          </p>
          <Content src={undefined} rendering={opened.message} title={texts.message} />
        </Dialog>
      )}
    </>
  )
}

function columnsOf(): Column<LoggedMessage>[] {
  const texts = textsOf('channels')
  return [
    {
      key: 'at',
      header: texts.when,
      width: TIME_WIDTH,
      isWrapped: true,
      cell: ({ loggedAt }) => <Time at={loggedAt} />,
    },
    {
      key: 'to',
      header: texts.to,
      width: 'minmax(100px, 1fr)',
      cell: ({ to }) => <bdi className="foreign">{to}</bdi>,
    },
    {
      key: 'message',
      header: texts.message,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: ({ message: { subject, title, text, body, providerTemplate } }) => (
        <bdi className="foreign">{subject ?? title ?? text ?? body ?? providerTemplate}</bdi>
      ),
    },
  ]
}
