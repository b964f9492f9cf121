/** One sender: its state, its records, its settings, and what became of its messages. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import type { BodyOf } from '../../../data-of.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { showError, showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { DialogForm } from '../../../parts/overlay/form-dialog.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { Findings } from '../channels/sender-check.tsx'
import { PauseButton } from './pause-button.tsx'
import { type Sender, paramsOf, sendersQuery } from './queries.ts'
import { SenderFields, readFields } from './sender-form.tsx'
import { Report } from './sender-report.tsx'

interface SenderDialogProps {
  businessId: string
  senders: readonly Sender[]
  sender: Sender
  onClose: () => void
}

export function SenderDialog({ businessId, senders, sender, onClose }: SenderDialogProps) {
  const texts = textsOf('senders')
  const channelTexts = textsOf('channels')
  const canChange = useCan('destinations:write')
  const canTest = useCan('audience:write')
  const { key, status, pauseReason, pausedAt, check } = sender
  const callbackUrl = 'callbackUrl' in sender ? sender.callbackUrl : undefined
  return (
    <Dialog title={key} onClose={onClose}>
      <div className="stack">
        {status !== 'active' && (
          <Note action={canChange && <PauseButton businessId={businessId} sender={sender} />}>
            {texts[status]}
            {pausedAt !== null && (
              <>
                {' · '}
                {texts.since} <Time at={pausedAt} />
              </>
            )}
            {pauseReason !== null && (
              <>
                {' · '}
                <bdi className="foreign">{pauseReason}</bdi>
              </>
            )}
          </Note>
        )}
        {callbackUrl !== undefined && <Code text={callbackUrl} label={channelTexts.callbackUrl} />}
        <Report businessId={businessId} sender={sender} />
        {sender.channel === 'email' && (
          <section className="stack">
            <h3>{channelTexts.check}</h3>
            {check === null ? <p className="muted">{texts.unchecked}</p> : <Findings checked={check} />}
            {canTest && sender.from !== null && <CheckButton businessId={businessId} sender={sender} />}
          </section>
        )}
        {canChange ? (
          <Change businessId={businessId} senders={senders} sender={sender} onClose={onClose} />
        ) : (
          <p className="muted">{texts.readOnly}</p>
        )}
      </div>
    </Dialog>
  )
}

function CheckButton({ businessId, sender }: { businessId: string; sender: Sender }) {
  const texts = textsOf('senders')
  const client = useQueryClient()
  const [isPending, setPending] = useState(false)
  const check = async () => {
    setPending(true)
    try {
      const params = paramsOf(businessId, sender)
      await take(api.POST('/dashboard/api/b/{businessId}/senders/{sender}/check', { params, body: {} }))
      await client.invalidateQueries(sendersQuery(businessId))
    } catch (error) {
      showError(error as Error)
    }
    setPending(false)
  }
  return (
    <Button icon="search" isPending={isPending} onClick={() => void check()}>
      {texts.checkNow}
    </Button>
  )
}

type ChangeBody = BodyOf<'/dashboard/api/b/{businessId}/senders/{sender}', 'patch'>

function Change({ businessId, senders, sender, onClose }: SenderDialogProps) {
  const texts = textsOf('senders')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const [isDeleting, setDeleting] = useState(false)
  const params = paramsOf(businessId, sender)
  const isVia = sender.via !== null
  const save = async (body: Record<string, unknown>) => {
    await take(api.PATCH('/dashboard/api/b/{businessId}/senders/{sender}', { params, body: body as ChangeBody }))
    await client.invalidateQueries(sendersQuery(businessId))
    showToast(shell.saved)
    onClose()
  }
  const form = useForm((values) => save(readFields(sender.provider, values, { isVia })))
  const others = senders.filter((one) => one.channel === sender.channel && one.key !== sender.key)
  return (
    <section className="stack">
      <h3>{texts.details}</h3>
      <DialogForm form={form} onClose={onClose} noValidate>
        <SenderFields form={form} provider={sender.provider} stored={sender} isVia={isVia} others={others} />
      </DialogForm>
      <div className="row">
        {!sender.isDefault && !isVia && (
          <Button onClick={() => void save({ isDefault: true }).catch(showError)}>{texts.makeDefault}</Button>
        )}
        {!sender.isDefault && sender.key !== 'default' && (
          <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            {texts.remove}
          </Button>
        )}
      </div>
      {isDeleting && (
        <Confirm
          title={texts.removeTitle}
          action={texts.remove}
          onConfirm={async () => {
            await take(api.DELETE('/dashboard/api/b/{businessId}/senders/{sender}', { params }))
            await client.invalidateQueries(sendersQuery(businessId))
            onClose()
          }}
          onClose={() => setDeleting(false)}
        >
          {texts.removeText}
        </Confirm>
      )}
    </section>
  )
}
