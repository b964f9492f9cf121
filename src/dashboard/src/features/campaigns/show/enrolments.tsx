/** Current and past enrolments, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import {
  type Campaign,
  type CampaignPath,
  ENROLMENT_STATES,
  type Enrolment,
  type EnrolmentState,
  enrolmentsQuery,
} from '../queries.ts'
import { type StepSpeaker, describeStepOf } from '../steps.ts'
import { useStepSpeaker } from '../use-step-speaker.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import { contactColumn } from './contact-column.tsx'
import type { CampaignSearch } from '../search.ts'
import { StateFilter } from './state-filter.tsx'

type Row = Enrolment & { name: string | undefined }

export function Enrolments({ path, campaign }: { path: CampaignPath; campaign: Campaign }) {
  const texts = textsOf('campaigns')
  const { businessId } = path
  const search: CampaignSearch = useSearch({ strict: false })
  const state = ENROLMENT_STATES.find((one) => one === search.state)
  const speaker = useStepSpeaker(businessId)
  const navigate = useNavigate()
  const list = useInfiniteQuery(enrolmentsQuery(path, state))
  const rows: Row[] = list.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <>
      <StateFilter tab="enrolments" states={ENROLMENT_STATES} names={texts.enrolmentStates} chosen={state} />
      <PagedTable
        list={list}
        label={texts.enrolments}
        columns={columnsOf(businessId, campaign, speaker)}
        rows={rows}
        keyOf={({ enrolmentId }) => enrolmentId}
        onOpen={({ contactId }) =>
          void navigate({ to: '/dashboard/b/$businessId/contacts/$contactId', params: { businessId, contactId } })
        }
        empty={
          <Empty icon="people" title={state === undefined ? texts.noEnrolmentsTitle : texts.noMatch}>
            {state === undefined && texts.noEnrolments}
          </Empty>
        }
      />
    </>
  )
}

const keyColumn = (): Column<Row> => ({
  key: 'key',
  header: textsOf('campaigns').key,
  width: 'minmax(100px, 1fr)',
  cell: ({ key }) => key !== null && <bdi className="foreign">{key}</bdi>,
})

const KINDS: Partial<Record<EnrolmentState, BadgeKind>> = { active: 'accent', converted: 'good' }

function columnsOf(businessId: string, campaign: Campaign, speaker: StepSpeaker): Column<Row>[] {
  const texts = textsOf('campaigns')
  return [
    contactColumn(businessId),
    ...(campaign.enrolPer === 'contact' ? [] : [keyColumn()]),
    {
      key: 'state',
      header: texts.state,
      width: '130px',
      cell: ({ state }) => <Badge kind={KINDS[state] ?? 'neutral'}>{texts.enrolmentStates[state]}</Badge>,
    },
    {
      key: 'step',
      header: texts.at,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: ({ stepId }) => stepId !== null && <Sentence parts={describeStepOf(campaign.steps, stepId, speaker)} />,
    },
    {
      key: 'enrolled',
      header: texts.enrolled,
      width: TIME_WIDTH,
      isSecondary: true,
      cell: ({ enrolledAt }) => <Time at={enrolledAt} />,
    },
    {
      key: 'next',
      header: texts.next,
      width: TIME_WIDTH,
      isSecondary: true,
      cell: ({ nextAt }) => nextAt !== null && <Time at={nextAt} />,
    },
    {
      key: 'ended',
      header: texts.ended,
      width: TIME_WIDTH,
      isSecondary: true,
      cell: ({ endedAt }) => endedAt !== null && <Time at={endedAt} />,
    },
  ]
}
