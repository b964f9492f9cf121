/** The messages of a campaign, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import { MessageDialog } from '../messages/message-dialog.tsx'
import { MessageStateBadge } from '../messages/message-state.tsx'
import { type Campaign, type CampaignPath, MESSAGE_STATES, type Message, messagesQuery } from '../queries.ts'
import { type StepSpeaker, describeReason, describeStepOf } from '../steps.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import { contactColumn } from './contact-column.tsx'
import type { CampaignSearch } from '../search.ts'
import { StateFilter } from './state-filter.tsx'

type Row = Message & { name: string | undefined }

export function Messages({ path, campaign }: { path: CampaignPath; campaign: Campaign }) {
  const texts = textsOf('campaigns')
  const { businessId, campaignId } = path
  const search: CampaignSearch = useSearch({ strict: false })
  const state = MESSAGE_STATES.find((one) => one === search.state)
  const speaker = useStepSpeaker(businessId)
  const list = useInfiniteQuery(messagesQuery(businessId, { campaignId, state }))
  const [openedId, setOpenedId] = useState<string | null>(null)
  const rows: Row[] = list.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <>
      <StateFilter tab="messages" states={MESSAGE_STATES} names={texts.messageStates} chosen={state} />
      <PagedTable
        list={list}
        label={texts.messages}
        columns={columnsOf(businessId, campaign, speaker)}
        rows={rows}
        keyOf={({ messageId }) => messageId}
        onOpen={({ messageId }) => setOpenedId(messageId)}
        empty={
          <Empty icon="send" title={state === undefined ? texts.noMessagesTitle : texts.noMatch}>
            {state === undefined && texts.noMessages}
          </Empty>
        }
      />
      {openedId !== null && (
        <MessageDialog businessId={businessId} messageId={openedId} onClose={() => setOpenedId(null)} />
      )}
    </>
  )
}

function columnsOf(businessId: string, campaign: Campaign, speaker: StepSpeaker): Column<Row>[] {
  const texts = textsOf('campaigns')
  return [
    contactColumn(businessId),
    {
      key: 'state',
      header: texts.state,
      width: '140px',
      cell: ({ state }) => <MessageStateBadge state={state} />,
    },
    {
      key: 'step',
      header: texts.step,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: ({ stepId }) => stepId !== null && <Sentence parts={describeStepOf(campaign.steps, stepId, speaker)} />,
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
