/** What the person agreed to, changed by one click, and every choice before. */
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
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
  const { chosen, choose } = useChoice(path)
  return (
    <Section title={texts.consent}>
      {CHANNELS.map((channel) => (
        <CheckboxField
          key={channel}
          name={channel}
          label={texts[channel]}
          checked={chosen[channel] ?? contact.subscriptions[channel]}
          disabled={!canEdit}
          onChange={(event) => choose(channel, event.target.checked)}
        />
      ))}
      {history.length > 0 && <Choices history={history} />}
    </Section>
  )
}

type Chosen = Partial<Record<(typeof CHANNELS)[number], boolean>>

/** A choice is shown at once, and taken back when the server refuses it. They are sent one after the other: the last one holds. */
function useChoice(path: ContactPath) {
  const client = useQueryClient()
  const [chosen, setChosen] = useState<Chosen>({})
  const sending = useRef(Promise.resolve())
  const send = async (body: Chosen) => {
    try {
      await apply(
        api.PUT('/dashboard/api/b/{businessId}/contacts/{contactId}/subscriptions', {
          params: { path },
          body: { ...body, method: 'dashboard' },
        }),
      )
      showToast(textsOf('contacts').consentSaved)
    } catch (error) {
      showError(error as Error)
    }
    await client.invalidateQueries({ queryKey: ['contact', path] })
  }
  const choose = (channel: keyof Chosen, isOn: boolean) => {
    setChosen((before) => ({ ...before, [channel]: isOn }))
    const sent = sending.current.then(() => send({ [channel]: isOn }))
    sending.current = sent
    void sent.then(() => sending.current === sent && setChosen({}))
  }
  return { chosen, choose }
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
