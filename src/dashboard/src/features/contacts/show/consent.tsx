/** The person's consent for each channel, changed by one click, and the history of choices. */
import { useQueryClient } from '@tanstack/react-query'
import { api, apply } from '../../../client.ts'
import { describeError } from '../../../parts/feedback/error-box.tsx'
import { CheckboxField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useOptimistic } from '../../../parts/action/use-optimistic.ts'
import { Time } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from './contact.module.css'
import { type ContactPath, type Detail, contactQuery } from './queries.ts'

const CHANNELS = ['email', 'sms', 'whatsapp', 'push'] as const

interface ConsentProps {
  path: ContactPath
  detail: Detail
}

export function Consent({ path, detail }: ConsentProps) {
  const texts = textsOf('contacts')
  const canEdit = useCan('contacts:write')
  const { shown, change, refused } = useChoice(path, detail)
  const { contact, consentHistory: history } = shown
  const reasonOf = (channel: Choice['channel']) => {
    const last = refused.findLast((one) => one.change.channel === channel)
    return last && describeError(last.error)
  }
  return (
    <Section title={texts.consent}>
      {CHANNELS.map((channel) => (
        <CheckboxField
          key={channel}
          name={channel}
          label={texts[channel]}
          checked={contact.subscriptions[channel]}
          disabled={!canEdit}
          error={reasonOf(channel)}
          onChange={(event) => change({ channel, isOn: event.target.checked })}
        />
      ))}
      {history.length > 0 && <Choices history={history} />}
    </Section>
  )
}

interface Choice {
  channel: (typeof CHANNELS)[number]
  isOn: boolean
}

function useChoice(path: ContactPath, detail: Detail) {
  const client = useQueryClient()
  const { queryKey } = contactQuery(path)
  return useOptimistic(detail, {
    queryKey,
    send: ({ channel, isOn }: Choice) =>
      apply(
        api.PUT('/dashboard/api/b/{businessId}/contacts/{contactId}/subscriptions', {
          params: { path },
          body: { [channel]: isOn, method: 'dashboard' },
        }),
      ),
    show: (before, { channel, isOn }) => {
      const subscriptions = { ...before.contact.subscriptions, [channel]: isOn }
      return { ...before, contact: { ...before.contact, subscriptions } }
    },
    onDone: () => {
      showToast(textsOf('contacts').consentSaved)
      // This includes its timeline.
      void client.invalidateQueries({ queryKey })
    },
  })
}

function Choices({ history }: { history: Detail['consentHistory'] }) {
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
