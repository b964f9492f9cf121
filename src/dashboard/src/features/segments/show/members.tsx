/** The members of the segment, the latest entry first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Member, type Segment, type SegmentPath, isAwaited, membersQuery } from '../queries.ts'
import { ContactCell } from '../../contacts/links.ts'
import { ExportMembers } from './export-members.tsx'
import styles from './segment.module.css'

type Row = Member & { name: string | undefined }

export function Members({ path, segment }: { path: SegmentPath; segment: Segment }) {
  const texts = textsOf('segments')
  const { businessId } = path
  const canSee = useCan('contacts:read')
  const canExport = useCan('contacts:export')
  const navigate = useNavigate()
  const list = useInfiniteQuery({ ...membersQuery(path, canSee), enabled: !isAwaited(segment) })
  const members: Row[] = list.data?.pages.flatMap(({ rows }) => rows) ?? []
  const open = ({ contactId }: Row) => {
    if (contactId === null) return
    void navigate({ to: '/dashboard/b/$businessId/contacts/$contactId', params: { businessId, contactId } })
  }
  if (isAwaited(segment)) return <Empty icon="people" title={texts.membersAwaited} />
  return (
    <>
      {canExport && members.length > 0 && (
        <div className={styles['bar']}>
          <ExportMembers path={path} segment={segment} />
        </div>
      )}
      <PagedTable
        list={list}
        label={texts.members}
        columns={columnsOf(businessId)}
        rows={members}
        keyOf={({ contactId, enteredAt }) => `${contactId} ${enteredAt}`}
        onOpen={canSee ? open : undefined}
        empty={
          <Empty icon="people" title={texts.noMembersTitle}>
            {texts.noMembers}
          </Empty>
        }
      />
    </>
  )
}

function columnsOf(businessId: string): Column<Row>[] {
  const texts = textsOf('segments')
  return [
    {
      key: 'contact',
      header: texts.contact,
      width: 'minmax(140px, 2fr)',
      cell: (row) => <ContactCell businessId={businessId} {...row} />,
    },
    {
      key: 'entered',
      header: texts.enteredAt,
      width: TIME_WIDTH,
      isWrapped: true,
      cell: ({ enteredAt }) => <Time at={enteredAt} />,
    },
    {
      key: 'cause',
      header: texts.cause,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: ({ cause }) => texts.causes[cause],
    },
  ]
}
