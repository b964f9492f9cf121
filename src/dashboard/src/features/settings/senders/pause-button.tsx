import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { showError } from '../../../parts/feedback/toast.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type Sender, paramsOf, sendersQuery } from './queries.ts'

interface PauseButtonProps {
  businessId: string
  sender: Sender
  size?: 'small'
}

/** Pauses a sender that runs, and resumes one that does not. */
export function PauseButton({ businessId, sender, size }: PauseButtonProps) {
  const texts = textsOf('senders')
  const client = useQueryClient()
  const [isPending, setPending] = useState(false)
  const isActive = sender.status === 'active'
  const change = async () => {
    setPending(true)
    try {
      const params = paramsOf(businessId, sender)
      if (isActive) await take(api.POST('/dashboard/api/b/{businessId}/senders/{sender}/pause', { params }))
      else await take(api.POST('/dashboard/api/b/{businessId}/senders/{sender}/resume', { params }))
      await client.invalidateQueries(sendersQuery(businessId))
    } catch (error) {
      showError(error as Error)
    }
    setPending(false)
  }
  return (
    <Button
      icon={isActive ? 'pause' : 'play'}
      isPending={isPending}
      {...(size && { size })}
      onClick={(event) => {
        // The row has a click of its own.
        event.stopPropagation()
        void change()
      }}
    >
      {isActive ? texts.pause : texts.resume}
    </Button>
  )
}
