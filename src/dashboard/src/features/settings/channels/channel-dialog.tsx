/** One channel: its provider and settings, and a test. */
import { DialogForm } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { TestSend } from '../../templates/links.ts'
import { PausedNote } from './paused-note.tsx'
import { type ChannelSettings, PROVIDERS, type Provider, bodyOf, providersOf } from './provider-forms.ts'
import { Setting } from './setting.tsx'
import { channelsQuery } from './queries.ts'
import { SenderCheck } from './sender-check.tsx'

interface ChannelProps {
  businessId: string
  stored: ChannelSettings
  onClose: () => void
}

export function ChannelDialog({ businessId, stored, onClose }: ChannelProps) {
  const texts = textsOf('channels')
  const { channels } = textsOf('campaigns')
  const canChange = useCan('destinations:write')
  const canTest = useCan('audience:write')
  const [isTesting, setTesting] = useState(false)
  const { channel, provider, pauseReason } = stored
  if (isTesting) return <TestSend businessId={businessId} channel={channel} onClose={() => setTesting(false)} />
  const callbackUrl = 'callbackUrl' in stored && typeof stored.callbackUrl === 'string' ? stored.callbackUrl : null
  return (
    <Dialog title={channels[channel]} onClose={onClose}>
      <div className="stack">
        {pauseReason != null && (
          <PausedNote businessId={businessId} channel={channel} reason={pauseReason} onResumed={onClose} />
        )}
        {provider === 'log' && <p className="muted">{texts.logIntro}</p>}
        {callbackUrl !== null && <Code text={callbackUrl} label={texts.callbackUrl} />}
        {'publicKey' in stored && <Code text={stored.publicKey} label={texts.publicKey} />}
        {canTest && (
          <div className="row">
            <Button icon="send" onClick={() => setTesting(true)}>
              {texts.test}
            </Button>
            <span className="muted small">{texts.testHint}</span>
          </div>
        )}
        {canTest && channel === 'email' && provider !== 'log' && (
          <SenderCheck businessId={businessId} channel={channel} />
        )}
        {canChange ? (
          <ChannelForm businessId={businessId} stored={stored} onClose={onClose} />
        ) : (
          <p className="muted">{texts.ownersChange}</p>
        )}
      </div>
    </Dialog>
  )
}

function ChannelForm({ businessId, stored, onClose }: ChannelProps) {
  const texts = textsOf('channels')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const { channel } = stored
  const [provider, setProvider] = useState(stored.provider)
  const form = useForm(async (values) => {
    const params = { path: { businessId, channel } }
    const body = bodyOf(stored, provider, values)
    await take(api.PUT('/dashboard/api/b/{businessId}/channels/{channel}', { params, body }))
    await client.invalidateQueries(channelsQuery(businessId))
    showToast(shell.saved)
    onClose()
  })
  const providers = providersOf(channel)
  return (
    <DialogForm form={form} onClose={onClose} noValidate>
      <SelectField
        name="provider"
        label={texts.provider}
        value={provider}
        options={providers.map((value) => ({ value, label: texts.providers[value] }))}
        error={form.issueOf('provider')}
        onChange={(event) => {
          form.reset()
          setProvider(event.target.value as Provider)
        }}
      />
      {PROVIDERS[provider].settings.map((setting) => (
        <Setting
          key={`${provider} ${setting.name}`}
          setting={setting}
          provider={provider}
          stored={stored}
          form={form}
        />
      ))}
    </DialogForm>
  )
}
