/** The contacts who dropped out after a step, and a button that makes a segment of them. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { beginSegment, isNewSegmentBegun } from '../../segments/links.ts'
import { ContactCell } from '../../contacts/links.ts'
import { Cancelled, isCancelled } from '../cancelled.tsx'
import { type DroppedContact, type Funnel, type FunnelQuery, droppedQuery } from '../queries.ts'
import { nameOfStep } from './name-of-step.ts'

type Step = Funnel['steps'][number]

interface DroppedProps {
  asked: FunnelQuery
  step: Step
  /** From 1. */
  place: number
}

export function Dropped({ asked, step, place }: DroppedProps) {
  const texts = textsOf('analytics')
  const { id: businessId } = useBusiness()
  const navigate = useNavigate()
  const canEdit = useCan('audience:write')
  const list = useInfiniteQuery(droppedQuery(businessId, { ...asked, step: place }))
  const contacts = list.data?.pages.flatMap(({ rows }) => rows) ?? []
  const title = texts.droppedAfter(nameOfStep(step.event, place - 1))
  return (
    <Section
      title={title}
      intro={canEdit && step.segment?.isExact === false ? texts.inexact : undefined}
      actions={canEdit && step.segment !== null && <MakeSegment name={title} rule={step.segment.rule} />}
    >
      {isCancelled(list) ? (
        <Cancelled onRetry={list.refetch} />
      ) : (
        <PagedTable
          list={list}
          label={title}
          columns={columnsOf(businessId)}
          rows={contacts}
          keyOf={({ contactId }) => contactId}
          onOpen={({ contactId }) =>
            void navigate({ to: '/dashboard/b/$businessId/contacts/$contactId', params: { businessId, contactId } })
          }
          height="360px"
        />
      )}
    </Section>
  )
}

function columnsOf(businessId: string): Column<DroppedContact>[] {
  const texts = textsOf('analytics')
  return [
    {
      key: 'contact',
      header: textsOf('segments').contact,
      width: 'minmax(110px, 2fr)',
      cell: (row) => <ContactCell businessId={businessId} {...row} />,
    },
    {
      key: 'at',
      header: texts.lastStepAt,
      width: TIME_WIDTH,
      isWrapped: true,
      align: 'end',
      cell: ({ at }) => <Time at={at} />,
    },
  ]
}

/** Opens the editor of a new segment with the rule. If the editor has a draft, the person must confirm its loss. */
function MakeSegment({ name, rule }: { name: string; rule: unknown }) {
  const texts = textsOf('analytics')
  const { id: businessId } = useBusiness()
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  const make = () => {
    beginSegment(businessId, name, rule)
    return navigate({ to: '/dashboard/b/$businessId/segments/new', params: { businessId } })
  }
  return (
    <>
      <Button
        icon="segments"
        onClick={() => {
          if (isNewSegmentBegun(businessId)) setAsking(true)
          else void make()
        }}
      >
        {texts.makeSegment}
      </Button>
      {isAsking && (
        <Confirm
          title={texts.makeSegment}
          action={texts.replaceDraft}
          onConfirm={make}
          onClose={() => setAsking(false)}
        >
          {texts.hasDraft}
        </Confirm>
      )}
    </>
  )
}
