/** Why one contact is in the segment or not. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Suspense, lazy, useState } from 'react'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Section } from '../../parts/page.tsx'
import { Picker } from '../../parts/picker.tsx'
import { useLate } from '../../parts/use-late.ts'
import { textsOf } from '../../texts/index.ts'
import { nameOf } from '../contacts/show-contact.ts'
import { type SegmentPath, findContactsQuery, namesQuery } from '../segments/queries.ts'
import type { SegmentSearch } from './route.ts'

const Explanation = lazy(() =>
  import('../segments/explanation.tsx').then(({ Explanation }) => ({ default: Explanation })),
)

export function CheckContact({ path }: { path: SegmentPath }) {
  const texts = textsOf('segments')
  const { contact }: SegmentSearch = useSearch({ strict: false })
  return (
    <Section title={texts.why} intro={texts.whyIntro} actions={<ContactPicker path={path} contactId={contact} />}>
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

const PAUSE_MS = 200

function ContactPicker({ path, contactId }: { path: SegmentPath; contactId: string | undefined }) {
  const texts = textsOf('segments')
  const { businessId } = path
  const navigate = useNavigate()
  const search: SegmentSearch = useSearch({ strict: false })
  const [wanted, setWanted] = useState('')
  const asked = useLate(wanted.trim(), PAUSE_MS)
  const found = useQuery(findContactsQuery(businessId, asked))
  const chosen = useQuery({ ...namesQuery(businessId, [contactId ?? '']), enabled: contactId !== undefined }).data
  const [named] = chosen?.contacts ?? []
  const options = (found.data?.contacts ?? []).map((contact) => ({
    key: contact.contactId,
    label: nameOf(contact) ?? texts.unnamed,
    detail: contact.identities.email[0] ?? contact.identities.phone[0] ?? contact.identities.platformCustomerId[0],
  }))
  return (
    <Picker
      label={texts.findContact}
      placeholder={texts.findHint}
      icon="search"
      wanted={wanted}
      onSearch={setWanted}
      groups={[{ title: texts.foundContacts, options }]}
      isLoading={found.isFetching}
      isStale={asked !== wanted.trim() || found.isPlaceholderData}
      onChoose={({ key }) => void navigate({ to: '.', search: { ...search, contact: key } as never, replace: true })}
    >
      <bdi>{(named && nameOf(named)) ?? texts.findContact}</bdi>
    </Picker>
  )
}
