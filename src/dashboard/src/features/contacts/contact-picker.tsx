/** Chooses one contact by a part of its name or address. The route loads the texts `segments`. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Picker } from '../../parts/overlay/picker.tsx'
import { useLate } from '../../parts/action/use-late.ts'
import { textsOf } from '../../texts/index.ts'
import { findContactsQuery, namesQuery } from './names.ts'
import { nameOf } from './show-contact.ts'

interface ContactPickerProps {
  businessId: string
  contactId: string | undefined
  /** Label of the button while no contact is chosen. */
  label?: string
  onChoose: (contactId: string) => void
}

const PAUSE_MS = 200

export function ContactPicker({ businessId, contactId, label, onChoose }: ContactPickerProps) {
  const texts = textsOf('segments')
  const [wanted, setWanted] = useState('')
  const searched = useLate(wanted.trim(), PAUSE_MS)
  const found = useQuery(findContactsQuery(businessId, searched))
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
      isStale={searched !== wanted.trim() || found.isPlaceholderData}
      onChoose={({ key }) => onChoose(key)}
    >
      <bdi>{(contactId !== undefined && named && nameOf(named)) || (label ?? texts.findContact)}</bdi>
    </Picker>
  )
}
