/** What the person agreed to, changed by one click, and every choice before. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apply } from '../../client.ts'
import { CheckboxField } from '../../parts/field.tsx'
import { Section } from '../../parts/page.tsx'
import { showError, showToast } from '../../parts/toast.tsx'
import { Time } from '../../parts/values.tsx'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './contact.module.css'
import type { Contact, ContactPath, Detail } from './queries.ts'

const CHANNELS = ['email', 'sms', 'whatsapp', 'push'] as const

interface ConsentProps {
  path: ContactPath
  contact: Contact
  history: Detail['consentHistory']
}

export function Consent({ path, contact, history }: ConsentProps) {
  const texts = textsOf('contacts')
  const canEdit = useCan('contacts:write')
  const { pending, choose } = useChoice(path)
  return (
    <Section title={texts.consent}>
      {CHANNELS.map((channel) => (
        <CheckboxField
          key={channel}
          name={channel}
          label={texts[channel]}
          checked={contact.subscriptions[channel]}
          disabled={!canEdit || pending !== undefined}
          onChange={(event) => void choose(channel, event.target.checked)}
        />
      ))}
      {history.length > 0 && <Choices history={history} />}
    </Section>
  )
}

function useChoice(path: ContactPath) {
  const client = useQueryClient()
  const [pending, setPending] = useState<string>()
  const choose = async (channel: (typeof CHANNELS)[number], isOn: boolean) => {
    setPending(channel)
    try {
      const body = { [channel]: isOn, method: 'dashboard' }
      await apply(
        api.PUT('/dashboard/api/b/{businessId}/contacts/{contactId}/subscriptions', { params: { path }, body }),
      )
      await client.invalidateQueries({ queryKey: ['contact', path] })
      showToast(textsOf('contacts').consentSaved)
    } catch (error) {
      showError(error as Error)
    } finally {
      setPending(undefined)
    }
  }
  return { pending, choose }
}

function Choices({ history }: { history: ConsentProps['history'] }) {
  const texts = textsOf('contacts')
  return (
    <details>
      <summary>{texts.consentHistory}</summary>
      <ol className={styles['list']}>
        {history.map(({ channel, subscribed, method, recordedAt }, at) => (
          <li key={at}>
            {texts[channel]}: {subscribed ? texts.optedIn : texts.optedOut}
            <span className="muted small">
              <Time at={recordedAt} /> · <bdi className="foreign">{method}</bdi>
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}
