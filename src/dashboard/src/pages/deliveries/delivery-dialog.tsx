/** One delivery: its attempts, and why the last one failed. */
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, take } from '../../client.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorBox } from '../../parts/error-box.tsx'
import { showToast } from '../../parts/toast.tsx'
import { useForm } from '../../parts/use-form.ts'
import { Num, Time } from '../../parts/values.tsx'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './deliveries.module.css'
import type { Delivery } from './queries.ts'
import { StateBadge } from './state-badge.tsx'

interface DeliveryDialogProps {
  businessId: string
  delivery: Delivery
  onClose: () => void
}

export function DeliveryDialog({ businessId, delivery, onClose }: DeliveryDialogProps) {
  const texts = textsOf('deliveries')
  const canRetry = useCan('destinations:write')
  const { contactId, event, type, state, attempts, lastReason, createdAt, nextAttemptAt, settledAt } = delivery
  const contact = contactId !== null && (
    <Link to="/dashboard/b/$businessId/contacts/$contactId" params={{ businessId, contactId }}>
      {texts.openContact}
    </Link>
  )
  const facts: [label: string, value: ReactNode][] = [
    [texts.destination, <bdi className="foreign">{delivery.destinationName}</bdi>],
    [texts.type, <bdi className="foreign">{type}</bdi>],
    [texts.attempts, <Num value={attempts} />],
    [texts.createdAt, <Time at={createdAt} />],
    [texts.nextAttempt, state === 'queued' && nextAttemptAt !== null && <Time at={nextAttemptAt} />],
    [texts.settledAt, settledAt !== null && <Time at={settledAt} />],
    [texts.contact, contact],
  ]
  return (
    <Dialog title={event} size="wide" onClose={onClose}>
      <div className="stack">
        <p>
          <StateBadge state={state} />
        </p>
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
        {lastReason !== null && (
          <section aria-label={texts.reason} className="stack">
            <h3>{texts.reason}</h3>
            <p className="foreign">{lastReason}</p>
          </section>
        )}
        {canRetry && state !== 'sent' && <Retry businessId={businessId} deliveryId={delivery.id} onClose={onClose} />}
      </div>
    </Dialog>
  )
}

interface RetryProps {
  businessId: string
  deliveryId: string
  onClose: () => void
}

function Retry({ businessId, deliveryId, onClose }: RetryProps) {
  const texts = textsOf('deliveries')
  const client = useQueryClient()
  const form = useForm(async () => {
    const params = { path: { businessId } }
    await take(api.POST('/dashboard/api/b/{businessId}/deliveries/retry', { params, body: { deliveryId } }))
    showToast(texts.retried('1'))
    await client.invalidateQueries({ queryKey: ['deliveries', businessId] })
    onClose()
  })
  return (
    <form {...form.props}>
      <ErrorBox error={form.error} />
      <div className="actions">
        <Button kind="primary" type="submit" isPending={form.isPending}>
          {texts.retry}
        </Button>
      </div>
    </form>
  )
}
