/** Contacts that entered or left the segment, and why, newest first. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Badge } from '../../../parts/value/badge.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Change, type SegmentPath, changesQuery } from '../queries.ts'
import { ContactCell } from '../../contacts/links.ts'

/** Erased persons have no ID, so a change is identified by its place in the list. */
type Row = Change & { name: string | undefined; place: number }

export function Changes({ path }: { path: SegmentPath }) {
  const texts = textsOf('segments')
  const list = useInfiniteQuery(changesQuery(path, useCan('contacts:read')))
  const changes = list.data?.pages.flatMap(({ rows }) => rows) ?? []
  return (
    <PagedTable
      list={list}
      label={texts.changes}
      columns={columnsOf(path.businessId)}
      rows={changes.map((change, place): Row => ({ ...change, place }))}
      keyOf={({ place }) => String(place)}
      empty={
        <Empty icon="list" title={texts.noChangesTitle}>
          {texts.noChanges}
        </Empty>
      }
    />
  )
}

function columnsOf(businessId: string): Column<Row>[] {
  const texts = textsOf('segments')
  return [
    {
      key: 'contact',
      header: texts.contact,
      width: 'minmax(110px, 2fr)',
      cell: (row) => <ContactCell businessId={businessId} {...row} />,
    },
    {
      key: 'change',
      header: texts.change,
      width: '100px',
      cell: ({ change }) => <Badge kind={change === 'entered' ? 'good' : 'neutral'}>{texts.changeKinds[change]}</Badge>,
    },
    {
      key: 'cause',
      header: texts.cause,
      width: 'minmax(110px, 2fr)',
      isWrapped: true,
      cell: ({ cause }) => texts.causes[cause],
    },
    {
      key: 'at',
      header: texts.at,
      width: TIME_WIDTH,
      align: 'end',
      isSecondary: true,
      cell: ({ at }) => <Time at={at} />,
    },
  ]
}
