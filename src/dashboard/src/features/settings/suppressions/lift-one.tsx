import { useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Suppression } from './queries.ts'

interface LiftOneProps {
  businessId: string
  suppression: Suppression
  onClose: () => void
}

export function LiftOne({ businessId, suppression: { suppressionId, channel, reason, at }, onClose }: LiftOneProps) {
  const texts = textsOf('suppressions')
  const client = useQueryClient()
  async function lift() {
    const params = { path: { businessId, suppressionId } }
    await take(api.DELETE('/dashboard/api/b/{businessId}/suppressions/{suppressionId}', { params }))
    showToast(texts.lifted('1'))
    await client.invalidateQueries({ queryKey: ['suppressions', businessId] })
  }
  return (
    <Confirm title={texts.liftTitle} action={texts.lift} onConfirm={lift} onClose={onClose}>
      <p>
        {textsOf('campaigns').channels[channel]}, {texts.reasons[reason]}, <Time at={at} />
      </p>
      <p>{texts.liftText}</p>
    </Confirm>
  )
}
