/** Explains why a channel is paused, and how to resume it. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { showError } from '../../../parts/feedback/toast.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { ChannelSettings } from './provider-forms.ts'
import { channelsQuery } from './queries.ts'

interface PausedNoteProps {
  businessId: string
  channel: ChannelSettings['channel']
  reason: string
  onResumed: () => void
}

export function PausedNote({ businessId, channel, reason, onResumed }: PausedNoteProps) {
  const texts = textsOf('channels')
  const client = useQueryClient()
  const canChange = useCan('destinations:write')
  const [isPending, setPending] = useState(false)
  const resume = async () => {
    setPending(true)
    try {
      const params = { path: { businessId, channel } }
      await take(api.POST('/dashboard/api/b/{businessId}/channels/{channel}/resume', { params }))
      await client.invalidateQueries(channelsQuery(businessId))
      onResumed()
    } catch (error) {
      setPending(false)
      showError(error as Error)
    }
  }
  const action = canChange && (
    <Button isPending={isPending} onClick={() => void resume()}>
      {texts.resume}
    </Button>
  )
  return <Note action={action}>{texts.pausedBecause(reason)}</Note>
}
