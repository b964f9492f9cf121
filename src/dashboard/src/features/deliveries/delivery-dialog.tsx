/** One delivery: its attempts, and why each failed. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, take } from '../../client.ts'
import { Badge, type BadgeKind } from '../../parts/value/badge.tsx'
import { Button } from '../../parts/action/button.tsx'
import { Dialog } from '../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { showToast } from '../../parts/feedback/toast.tsx'
import { useForm } from '../../parts/form/use-form.ts'
import { Num, Time } from '../../parts/value/values.tsx'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './deliveries.module.css'
import { type Attempt, type Delivery, attemptsQuery } from './queries.ts'
import { StateBadge } from './state-badge.tsx'

const OUTCOMES: Record<Attempt['outcome'], BadgeKind> = { sent: 'good', retry: 'warn', unsent: 'neutral', dead: 'bad' }

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
        <Attempts businessId={businessId} deliveryId={delivery.id} lastReason={lastReason} />
        {canRetry && state !== 'sent' && <Retry businessId={businessId} deliveryId={delivery.id} onClose={onClose} />}
      </div>
    </Dialog>
  )
}

interface AttemptsProps {
  businessId: string
  deliveryId: string
  lastReason: string | null
}

/** The newest attempts. For a delivery that was tried before Sluice stored attempts, only the last reason is known. */
function Attempts({ businessId, deliveryId, lastReason }: AttemptsProps) {
  const texts = textsOf('deliveries')
  const { data, error } = useQuery(attemptsQuery(businessId, deliveryId))
  const attempts = data?.attempts ?? []
  const isOlder = data !== undefined && attempts.length === 0 && lastReason !== null
  if (error === null && attempts.length === 0 && !isOlder) return null
  return (
    <section aria-label={isOlder ? texts.reason : texts.lastAttempts} className="stack">
      <h3>{isOlder ? texts.reason : texts.lastAttempts}</h3>
      <ErrorBox error={error} />
      {isOlder && <p className="foreign">{lastReason}</p>}
      <ol className={styles['attempts']}>
        {attempts.map(({ at, outcome, reason }) => (
          <li key={at}>
            <Time at={at} /> <Badge kind={OUTCOMES[outcome]}>{texts.outcomes[outcome]}</Badge>{' '}
            <bdi className="foreign">{reason}</bdi>
          </li>
        ))}
      </ol>
    </section>
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
