import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../../../client.ts'
import { formatPercent } from '../../../format.ts'
import { Button, ButtonLink } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Page, Section } from '../../../parts/page/page.tsx'
import { Tab, Tabs } from '../../../parts/page/tabs.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Segment, type SegmentPath, segmentQuery } from '../queries.ts'
import { sayWarning } from '../../rules/say-warning.ts'
import { describeNode } from '../../rules/sentence.ts'
import { treeOf } from '../../rules/tree.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import { useSpeaker } from '../../rules/use-speaker.ts'
import { Changes } from './changes.tsx'
import { CheckContact } from './check-contact.tsx'
import { DeleteSegment } from './delete-segment.tsx'
import { Members } from './members.tsx'
import type { SegmentSearch } from '../search.ts'
import { Size } from './size.tsx'

export function SegmentPage() {
  const texts = textsOf('segments')
  const path = useParams({ strict: false }) as SegmentPath
  const { data, error, refetch } = useQuery(segmentQuery(path))
  useRefresh(path, data?.segment.status)
  if (error instanceof ApiError && error.status === 404) return <NotFound />
  if (data === undefined) {
    return (
      <Page title={texts.name}>
        {error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />}
      </Page>
    )
  }
  const { segment } = data
  return (
    <Page
      title={segment.name}
      intro={segment.description !== null && <bdi className="foreign">{segment.description}</bdi>}
      actions={<Actions path={path} segment={segment} />}
    >
      <Notes segment={segment} />
      <RuleInWords businessId={path.businessId} segment={segment} />
      <Size path={path} segment={segment} />
      <Parts path={path} segment={segment} />
    </Page>
  )
}

/** Reads members, changes and sizes again once a new computation is done. */
function useRefresh({ businessId, segmentId }: SegmentPath, status: Segment['status'] | undefined): void {
  const client = useQueryClient()
  const before = useRef(status)
  useEffect(() => {
    const isComputed = before.current === 'computing' && status === 'ready'
    before.current = status
    if (!isComputed) return
    const filter = { queryKey: ['segment', { businessId, segmentId }] }
    // A first answer that is still on its way may be older than the new members. `invalidateQueries` alone would keep it.
    void client.cancelQueries(filter).then(() => client.invalidateQueries(filter))
  }, [client, businessId, segmentId, status])
}

interface PartProps {
  path: SegmentPath
  segment: Segment
}

function Actions({ path, segment }: PartProps) {
  const texts = textsOf('segments')
  const canEdit = useCan('audience:write')
  const [isDeleting, setDeleting] = useState(false)
  if (!canEdit) return null
  return (
    <>
      <EditLink path={path} />
      <Button kind="danger" onClick={() => setDeleting(true)}>
        {texts.remove}
      </Button>
      {isDeleting && <DeleteSegment path={path} name={segment.name} onClose={() => setDeleting(false)} />}
    </>
  )
}

function EditLink({ path }: { path: SegmentPath }) {
  const texts = textsOf('segments')
  const link = { to: '/dashboard/b/$businessId/segments/$segmentId/edit', params: path } as const
  return (
    <ButtonLink {...link} icon="edit">
      {texts.edit}
    </ButtonLink>
  )
}

function Notes({ segment: { status, progress, version, rule, warnings } }: { segment: Segment }) {
  const texts = textsOf('segments')
  const share = formatPercent(progress)
  return (
    <>
      {status === 'computing' && <Note>{version === 1 ? texts.isFirstComputed(share) : texts.isComputing(share)}</Note>}
      {warnings.map((warning) => (
        <Note key={warning.path}>{sayWarning(rule, warning)}</Note>
      ))}
    </>
  )
}

function RuleInWords({ businessId, segment: { rule } }: { businessId: string; segment: Segment }) {
  const speaker = useSpeaker(businessId)
  return (
    <Section title={textsOf('segments').rule}>
      <p>
        {speaker.words.intro} <Sentence parts={describeNode(treeOf(rule).root, speaker)} />
      </p>
    </Section>
  )
}

function Parts({ path, segment }: PartProps) {
  const texts = textsOf('segments')
  const { tab }: SegmentSearch = useSearch({ strict: false })
  const canSee = useCan('contacts:read')
  return (
    <>
      <Tabs label={texts.parts}>
        <PartTab tab={undefined} shown={tab} text={texts.members} />
        <PartTab tab="changes" shown={tab} text={texts.changes} />
        {canSee && <PartTab tab="why" shown={tab} text={texts.why} />}
      </Tabs>
      {tab === undefined && <Members path={path} segment={segment} />}
      {tab === 'changes' && <Changes path={path} />}
      {tab === 'why' && canSee && <CheckContact path={path} />}
    </>
  )
}

interface PartTabProps {
  tab: SegmentSearch['tab']
  shown: SegmentSearch['tab']
  text: string
}

function PartTab({ tab, shown, text }: PartTabProps) {
  const search: SegmentSearch = useSearch({ strict: false })
  return (
    <Tab
      to="."
      search={{ ...search, tab }}
      activeOptions={{ exact: true, includeSearch: true }}
      {...(tab === shown && { 'aria-current': 'page' as const })}
    >
      {text}
    </Tab>
  )
}
