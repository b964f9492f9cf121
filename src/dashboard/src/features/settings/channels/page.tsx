import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Badge } from '../../../parts/value/badge.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { type Column, TIME_WIDTH, Table } from '../../../parts/list/table.tsx'
import { Tab, Tabs } from '../../../parts/page/tabs.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { ChannelsSearch } from './search.ts'
import { ChannelDialog } from './channel-dialog.tsx'
import { ChannelLog } from './channel-log.tsx'
import { type ChannelSettings, textOf } from './provider-forms.ts'
import { channelsQuery } from './queries.ts'

export function ChannelsPage() {
  const texts = textsOf('channels')
  const { log, channel }: ChannelsSearch = useSearch({ strict: false })
  if (!useCan('contacts:read')) return <NotFound />
  return (
    <Page title={texts.title} intro={texts.intro}>
      <Tabs label={texts.parts}>
        <PartTab search={{}} isShown={log === undefined}>
          {texts.title}
        </PartTab>
        <PartTab search={{ log: log ?? 'email' }} isShown={log !== undefined}>
          {texts.log}
        </PartTab>
      </Tabs>
      {log === undefined ? <Channels first={channel ?? null} /> : <ChannelLog channel={log} />}
    </Page>
  )
}

interface PartTabProps {
  search: ChannelsSearch
  isShown: boolean
  children: ReactNode
}

function PartTab({ search, isShown, children }: PartTabProps) {
  return (
    <Tab
      to="."
      search={search}
      activeOptions={{ exact: true, includeSearch: true }}
      {...(isShown && { 'aria-current': 'page' as const })}
    >
      {children}
    </Tab>
  )
}

/** `first`: the channel whose settings are open at first. */
function Channels({ first }: { first: string | null }) {
  const texts = textsOf('channels')
  const { id: businessId } = useBusiness()
  const { data, error, isPending, refetch } = useQuery(channelsQuery(businessId))
  const [openedName, setOpened] = useState(first)
  const opened = data?.channels.find(({ channel }) => channel === openedName)
  return (
    <>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      {error === null && (
        <Table
          label={texts.title}
          columns={columnsOf()}
          rows={data?.channels ?? []}
          keyOf={({ channel }) => channel}
          onOpen={({ channel }) => setOpened(channel)}
          isLoading={isPending}
          waitingRows={5}
          height="auto"
        />
      )}
      {opened !== undefined && (
        <ChannelDialog businessId={businessId} stored={opened} onClose={() => setOpened(null)} />
      )}
    </>
  )
}

function columnsOf(): Column<ChannelSettings>[] {
  const texts = textsOf('channels')
  const { channels } = textsOf('campaigns')
  return [
    { key: 'channel', header: texts.channel, width: 'minmax(100px, 1fr)', cell: ({ channel }) => channels[channel] },
    {
      key: 'provider',
      header: texts.provider,
      width: 'minmax(120px, 1fr)',
      cell: ({ provider }) => <Badge kind={provider === 'log' ? 'neutral' : 'good'}>{texts.providers[provider]}</Badge>,
    },
    {
      key: 'sender',
      header: texts.fromTo,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: (stored) => (
        <bdi className="foreign">{textOf(stored, 'sender') || textOf(stored, 'url') || textOf(stored, 'subject')}</bdi>
      ),
    },
    {
      key: 'changed',
      header: texts.changed,
      width: TIME_WIDTH,
      isSecondary: true,
      cell: ({ updatedAt }) =>
        updatedAt === null ? <span className="muted">{texts.never}</span> : <Time at={updatedAt} />,
    },
  ]
}
