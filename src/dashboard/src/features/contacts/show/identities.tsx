/** What finds the contact. An email or a phone can be made primary, or be removed. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apply } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { Pairs } from './pairs.tsx'
import type { Contact, ContactPath } from './queries.ts'

const KINDS = ['email', 'phone', 'platformCustomerId'] as const
type AddressKind = 'email' | 'phone'

interface Asked {
  what: 'primary' | 'remove'
  kind: AddressKind
  value: string
}

export function Identities({ path, contact: { identities } }: { path: ContactPath; contact: Contact }) {
  const texts = textsOf('contacts')
  const canEdit = useCan('contacts:write')
  const [asked, setAsked] = useState<Asked>()
  const isOnly = KINDS.reduce((many, kind) => many + identities[kind].length, 0) === 1
  return (
    <Section title={texts.identities}>
      <Pairs
        pairs={KINDS.flatMap((kind) =>
          identities[kind].map((value, place) => {
            const isAddress = kind !== 'platformCustomerId'
            const isFirst = isAddress && place === 0 && identities[kind].length > 1
            const shown = (
              <span className="row" key={value}>
                <bdi>{value}</bdi>
                {isFirst && <Badge>{texts.primary}</Badge>}
                {canEdit && isAddress && (
                  <AddressActions
                    value={value}
                    canBePrimary={place > 0}
                    canBeRemoved={!isOnly}
                    onAsk={(what) => setAsked({ what, kind, value })}
                  />
                )}
              </span>
            )
            return [texts[kind], shown] as const
          }),
        )}
      />
      {asked && <Question path={path} asked={asked} onClose={() => setAsked(undefined)} />}
    </Section>
  )
}

interface AddressActionsProps {
  value: string
  canBePrimary: boolean
  canBeRemoved: boolean
  onAsk: (what: Asked['what']) => void
}

function AddressActions({ value, canBePrimary, canBeRemoved, onAsk }: AddressActionsProps) {
  const texts = textsOf('contacts')
  return (
    <>
      {canBePrimary && (
        <Button
          kind="quiet"
          size="small"
          aria-label={`${texts.makePrimary}: ${value}`}
          onClick={() => onAsk('primary')}
        >
          {texts.makePrimary}
        </Button>
      )}
      {canBeRemoved && (
        <Button
          kind="quiet"
          size="small"
          aria-label={`${texts.removeAddress}: ${value}`}
          onClick={() => onAsk('remove')}
        >
          {texts.removeAddress}
        </Button>
      )}
    </>
  )
}

function Question({ path, asked, onClose }: { path: ContactPath; asked: Asked; onClose: () => void }) {
  const texts = textsOf('contacts')
  const client = useQueryClient()
  const { what, kind, value } = asked
  const isPrimary = what === 'primary'
  const confirm = async () => {
    const body = isPrimary
      ? { [kind === 'email' ? 'primaryEmail' : 'primaryPhone']: value }
      : { removeIdentities: { [kind]: [value] } }
    await apply(api.PATCH('/dashboard/api/b/{businessId}/contacts/{contactId}', { params: { path }, body }))
    await client.invalidateQueries({ queryKey: ['contact', path] })
    void client.invalidateQueries({ queryKey: ['contacts', path.businessId] })
    showToast(isPrimary ? texts.madePrimary : texts.addressRemoved)
  }
  return (
    <Confirm
      title={isPrimary ? texts.makePrimaryTitle : texts.removeAddressTitle}
      action={isPrimary ? texts.makePrimary : texts.removeAddress}
      isDangerous={!isPrimary}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        <bdi className="foreign">{value}</bdi>
      </p>
      <p>{isPrimary ? texts.makePrimaryText : texts.removeAddressText}</p>
    </Confirm>
  )
}
