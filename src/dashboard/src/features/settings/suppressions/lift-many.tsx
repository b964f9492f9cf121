/** Lifts all suppressions with a reason, optionally only those of a period. */
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { ADDRESS_CHANNELS, type AddressChannel, REASONS, type Reason } from './queries.ts'
import styles from './suppressions.module.css'

interface LiftManyProps {
  businessId: string
  onClose: () => void
}

interface Wanted {
  reason: Reason
  channel?: AddressChannel
  from?: string
  to?: string
}

export function LiftMany({ businessId, onClose }: LiftManyProps) {
  const texts = textsOf('suppressions')
  const { channels } = textsOf('campaigns')
  const [wanted, setWanted] = useState<Wanted | null>(null)
  const form = useForm(({ reason, channel, from = '', to = '' }) => {
    setWanted({
      reason: reason as Reason,
      ...(channel !== '' && { channel: channel as AddressChannel }),
      ...(from !== '' && { from: new Date(from).toISOString() }),
      // Include the whole minute that the field shows.
      ...(to !== '' && { to: new Date(new Date(to).getTime() + LAST_OF_MINUTE_MS).toISOString() }),
    })
    return Promise.resolve()
  })
  if (wanted !== null) return <Sure businessId={businessId} wanted={wanted} onClose={onClose} />
  return (
    <FormDialog title={texts.liftMany} form={form} action={texts.next} isDangerous onClose={onClose}>
      <SelectField
        name="reason"
        label={texts.reason}
        options={REASONS.map((value) => ({ value, label: texts.reasons[value] }))}
      />
      <SelectField
        name="channel"
        label={texts.channel}
        options={[
          { value: '', label: texts.anyChannel },
          ...ADDRESS_CHANNELS.map((value) => ({ value, label: channels[value] })),
        ]}
      />
      <div className={styles['period']}>
        <TextField name="from" type="datetime-local" label={texts.from} />
        <TextField name="to" type="datetime-local" label={texts.until} />
      </div>
      <p className="muted small">{texts.periodHint}</p>
    </FormDialog>
  )
}

const LAST_OF_MINUTE_MS = 59_999

function Sure({ businessId, wanted, onClose }: LiftManyProps & { wanted: Wanted }) {
  const texts = textsOf('suppressions')
  const client = useQueryClient()
  async function lift() {
    const params = { path: { businessId }, query: wanted }
    let lifted = 0
    // One request lifts a few thousand suppressions.
    for (let hasMore = true; hasMore;) {
      const some = await take(api.DELETE('/dashboard/api/b/{businessId}/suppressions', { params }))
      lifted += some.lifted
      ;({ hasMore } = some)
    }
    showToast(texts.lifted(formatNumber(lifted)))
    await client.invalidateQueries({ queryKey: ['suppressions', businessId] })
  }
  return (
    <Confirm title={texts.liftManyTitle} action={texts.liftAll} onConfirm={lift} onClose={onClose}>
      <p>{texts.liftManyText(texts.reasons[wanted.reason])}</p>
      <p>{texts.liftText}</p>
    </Confirm>
  )
}
