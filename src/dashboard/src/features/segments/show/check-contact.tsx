/** Why a contact is a member of the segment, or not. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Suspense } from 'react'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { textsOf } from '../../../texts/index.ts'
import { ContactPicker } from '../../contacts/links.ts'
import type { SegmentPath } from '../queries.ts'
import { Explanation } from '../explanation-lazy.ts'
import type { SegmentSearch } from '../search.ts'

export function CheckContact({ path }: { path: SegmentPath }) {
  const texts = textsOf('segments')
  const navigate = useNavigate()
  const search: SegmentSearch = useSearch({ strict: false })
  const { contact } = search
  const picker = (
    <ContactPicker
      businessId={path.businessId}
      contactId={contact}
      onChoose={(chosen) => void navigate({ to: '.', search: { ...search, contact: chosen }, replace: true })}
    />
  )
  return (
    <Section title={texts.why} intro={texts.whyIntro} actions={picker}>
      {contact === undefined ? (
        <Empty icon="search" title={texts.findContact} />
      ) : (
        <Suspense fallback={<Loading lines={5} />}>
          <Explanation path={path} contactId={contact} />
        </Suspense>
      )}
    </Section>
  )
}
