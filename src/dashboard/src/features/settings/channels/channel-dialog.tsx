/** One channel: its provider and settings, and a test. */
import { DialogForm } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { type FormState, useForm } from '../../../parts/form/use-form.ts'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { TestSend } from '../../templates/links.ts'
import { PausedNote } from './paused-note.tsx'
import {
  type ChannelSettings,
  PROVIDERS,
  type Provider,
  type SettingForm,
  bodyOf,
  providersOf,
  textOf,
} from './provider-forms.ts'
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

interface SettingProps {
  setting: SettingForm
  provider: Provider
  stored: ChannelSettings
  form: FormState
}

function Setting({ setting: { name, kind }, provider, stored, form }: SettingProps) {
  const texts = textsOf('channels')
  const hints: Record<string, string | undefined> = texts.settingHints
  const isSame = provider === stored.provider
  const common = {
    name,
    label: texts.settings[name],
    hint: hints[name],
    error: form.issueOf(name),
  }
  if (kind === 'flag') {
    return (
      <SelectField
        {...common}
        defaultValue={isSame ? textOf(stored, name) : ''}
        options={[
          { value: '', label: texts.byServer },
          { value: 'true', label: texts.yes },
          { value: 'false', label: texts.no },
        ]}
      />
    )
  }
  if (kind === 'secret') {
    return (
      <TextField
        {...common}
        type="password"
        hint={isSame && stored.secrets.includes(name) ? texts.secretStays : common.hint}
        dir="ltr"
        // The browser must neither store the secret nor fill in the person's password.
        autoComplete="new-password"
        spellCheck={false}
        maxLength={8192}
      />
    )
  }
  return (
    <TextField
      {...common}
      defaultValue={isSame ? textOf(stored, name) : ''}
      inputMode={kind === 'number' ? 'numeric' : undefined}
      dir="ltr"
      autoComplete="off"
      spellCheck={false}
      maxLength={2048}
    />
  )
}
