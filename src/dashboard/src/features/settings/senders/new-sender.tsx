import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import type { BodyOf } from '../../../data-of.ts'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { textsOf } from '../../../texts/index.ts'
import { type MessageChannel, MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { type Provider, providersOf } from '../channels/provider-forms.ts'
import { type Sender, sendersQuery } from './queries.ts'
import { SenderFields, readFields } from './sender-form.tsx'

type NewBody = BodyOf<'/dashboard/api/b/{businessId}/senders', 'post'>

interface NewSenderProps {
  businessId: string
  senders: readonly Sender[]
  onClose: () => void
}

/** Browsers subscribe to one key, so that `push` has one sender. */
const CHANNELS = MESSAGE_CHANNELS.filter((one) => one !== 'push')

export function NewSender({ businessId, senders, onClose }: NewSenderProps) {
  const texts = textsOf('senders')
  const channelTexts = textsOf('channels')
  const { channels } = textsOf('campaigns')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const [channel, setChannel] = useState<MessageChannel>('email')
  const [provider, setProvider] = useState<Provider>('smtp')
  const [via, setVia] = useState('')
  const form = useForm(async (values) => {
    const fields = readFields(provider, values, { isVia: via !== '' })
    const body = { key: values['key'] ?? '', channel, ...(via === '' ? {} : { via }), ...fields } as NewBody
    await take(api.POST('/dashboard/api/b/{businessId}/senders', { params: { path: { businessId } }, body }))
    await client.invalidateQueries(sendersQuery(businessId))
    showToast(shell.saved)
    onClose()
  })
  const others = senders.filter((one) => one.channel === channel)
  const connections = others.filter((one) => one.via === null && one.from !== null)
  return (
    <FormDialog title={texts.create} form={form} onClose={onClose} noValidate>
      <TextField
        name="key"
        label={texts.key}
        hint={texts.keyHint}
        error={form.issueOf('key')}
        dir="ltr"
        autoComplete="off"
        spellCheck={false}
        maxLength={64}
      />
      <SelectField
        name="channel"
        label={texts.channel}
        value={channel}
        options={CHANNELS.map((value) => ({ value, label: channels[value] }))}
        error={form.issueOf('channel')}
        onChange={(event) => {
          const chosen = event.target.value as MessageChannel
          form.reset()
          setChannel(chosen)
          setVia('')
          setProvider(providersOf(chosen).find((one) => one !== 'log') ?? 'log')
        }}
      />
      {connections.length > 0 && (
        <SelectField
          name="via"
          label={texts.connection}
          value={via}
          options={[
            { value: '', label: texts.own },
            ...connections.map(({ key }) => ({ value: key, label: texts.via(key) })),
          ]}
          error={form.issueOf('via')}
          onChange={(event) => setVia(event.target.value)}
        />
      )}
      {via === '' && (
        <SelectField
          name="provider"
          label={texts.provider}
          value={provider}
          options={providersOf(channel).map((value) => ({ value, label: channelTexts.providers[value] }))}
          error={form.issueOf('provider')}
          onChange={(event) => {
            form.reset()
            setProvider(event.target.value as Provider)
          }}
        />
      )}
      <SenderFields form={form} provider={provider} stored={null} isVia={via !== ''} others={others} />
    </FormDialog>
  )
}
