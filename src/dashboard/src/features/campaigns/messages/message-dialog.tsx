/** One message: its address, outcome and content. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { Content } from '../../templates/links.ts'
import styles from './message-dialog.module.css'
import { MessageStateBadge } from './message-state.tsx'
import { type Message, messageQuery } from '../queries.ts'
import { describeReason } from '../steps.ts'

interface MessageDialogProps {
  businessId: string
  messageId: string
  onClose: () => void
}

export function MessageDialog({ businessId, messageId, onClose }: MessageDialogProps) {
  const texts = textsOf('campaigns')
  const canSettle = useCan('audience:write')
  const { data, error, refetch } = useQuery(messageQuery(businessId, messageId))
  const message = data?.message
  return (
    <Dialog
      title={message === undefined ? texts.messages : texts.channels[message.channel]}
      size="wide"
      onClose={onClose}
    >
      <div className="stack">
        <ErrorBox error={error} onRetry={() => void refetch()} />
        {message === undefined && error === null && <Loading lines={6} />}
        {message !== undefined && (
          <>
            <Facts businessId={businessId} message={message} />
            {message.state === 'unknown' && canSettle && <Settle businessId={businessId} messageId={messageId} />}
            <States states={message.states} />
            <Content src={`/dashboard/api/b/${businessId}/messages/${messageId}/html`} rendering={message.rendering} />
          </>
        )}
      </div>
    </Dialog>
  )
}

function Facts({ businessId, message }: { businessId: string; message: Message }) {
  const texts = textsOf('campaigns')
  const { contactId, state, reason, detail, to, provider } = message
  const contact = contactId !== null && (
    <Link to="/dashboard/b/$businessId/contacts/$contactId" params={{ businessId, contactId }}>
      {texts.openContact}
    </Link>
  )
  const facts: [label: string, value: ReactNode][] = [
    [texts.state, <MessageStateBadge state={state} />],
    [texts.reason, reason !== null && describeReason(reason)],
    [texts.to, to !== null && <bdi className="foreign">{to}</bdi>],
    [texts.provider, provider !== null && <bdi className="foreign">{provider}</bdi>],
    [texts.detail, detail !== null && <bdi className="foreign">{detail}</bdi>],
    [texts.contact, contact],
  ]
  return (
    <dl className={styles['facts']}>
      {facts.map(
        ([label, value]) =>
          value !== false && (
            <div key={label}>
              <dt className="muted small">{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

function States({ states }: { states: Message['states'] }) {
  const texts = textsOf('campaigns')
  return (
    <section aria-label={texts.states} className="stack">
      <h3>{texts.states}</h3>
      <ol className={styles['states']}>
        {states.map(({ state, at }, place) => (
          <li key={place} className="row">
            <MessageStateBadge state={state} /> <Time at={at} />
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Lets a person enter an outcome that Sluice does not know. */
function Settle({ businessId, messageId }: Omit<MessageDialogProps, 'onClose'>) {
  const texts = textsOf('campaigns')
  const client = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: (state: 'sent' | 'failed') => {
      const params = { path: { businessId, messageId } }
      return take(api.POST('/dashboard/api/b/{businessId}/messages/{messageId}/settle', { params, body: { state } }))
    },
    onSuccess: async () => {
      showToast(texts.settled)
      void client.invalidateQueries({ queryKey: ['messages', businessId] })
      void client.invalidateQueries({ queryKey: ['campaign'] })
      await client.invalidateQueries({ queryKey: messageQuery(businessId, messageId).queryKey })
    },
  })
  return (
    <section aria-label={texts.settle} className="stack">
      <Note>{texts.unknownText}</Note>
      <ErrorBox error={error} />
      <div className="actions">
        <Button isPending={isPending} onClick={() => mutate('failed')}>
          {texts.wasNotSent}
        </Button>
        <Button kind="primary" isPending={isPending} onClick={() => mutate('sent')}>
          {texts.wasSent}
        </Button>
      </div>
    </section>
  )
}
