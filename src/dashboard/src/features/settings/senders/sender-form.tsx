/** The fields of a sender: those of its provider, or its address when it uses the connection of another one. */
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import type { FormState } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { PROVIDERS, type Provider, type SettingForm, enteredOf, textOf } from '../channels/provider-forms.ts'
import { Setting } from '../channels/setting.tsx'
import type { Sender } from './queries.ts'

interface SenderFieldsProps {
  form: FormState
  provider: Provider
  /** Null: a new one. */
  stored: Sender | null
  /** It uses the connection of another sender. */
  isVia: boolean
  /** Those that may take its messages. */
  others: readonly Sender[]
}

const NOTHING_STORED = { secrets: [] }

export function SenderFields({ form, provider, stored, isVia, others }: SenderFieldsProps) {
  const texts = textsOf('senders')
  const channels = textsOf('channels')
  const from = stored?.from
  const fallbacks = others.map(({ key }) => ({ value: key, label: key }))
  return (
    <>
      {isVia ? (
        <>
          <TextField
            name="from"
            label={texts.from}
            hint={texts.fromHint}
            defaultValue={from ? (from.name === undefined ? from.address : `${from.name} <${from.address}>`) : ''}
            error={form.issueOf('from')}
            dir="ltr"
            autoComplete="off"
            maxLength={500}
          />
          <TextField
            name="replyTo"
            label={channels.settings.replyTo}
            defaultValue={stored === null ? '' : textOf(stored, 'replyTo')}
            error={form.issueOf('replyTo')}
            dir="ltr"
            autoComplete="off"
            maxLength={500}
          />
        </>
      ) : (
        settingsOf(provider).map((setting) => (
          <Setting
            key={`${provider} ${setting.name}`}
            setting={setting}
            provider={provider}
            stored={fieldsOf(stored, provider)}
            form={form}
          />
        ))
      )}
      <SelectField
        name="fallback"
        label={texts.fallback}
        defaultValue={stored?.fallback ?? ''}
        options={[{ value: '', label: texts.none }, ...fallbacks]}
        error={form.issueOf('fallback')}
      />
    </>
  )
}

/** `sender` of mails is `from` in the answers about senders, and in their faults. */
const settingsOf = (provider: Provider): readonly SettingForm[] =>
  PROVIDERS[provider].settings.map((one) => (one.name === 'sender' ? { ...one, name: 'from' as const } : one))

/** With the address as one text. */
function fieldsOf(stored: Sender | null, provider: Provider) {
  if (stored === null) return { ...NOTHING_STORED, provider }
  const { from, ...settings } = stored
  const text = from && (from.name === undefined ? from.address : `${from.name} <${from.address}>`)
  return { ...settings, provider: stored.provider, secrets: stored.secrets, from: text ?? '' }
}

/** What the fields say. Emptied ones are null, so that they are removed; secrets stay. */
export function readFields(
  provider: Provider,
  values: Record<string, string>,
  { isVia }: { isVia: boolean },
): Record<string, unknown> {
  const fallback = values['fallback'] === '' ? null : values['fallback']
  if (isVia) {
    const { from = '', replyTo = '' } = values
    return { from: from.trim(), replyTo: replyTo.trim() === '' ? null : replyTo.trim(), fallback }
  }
  const settings = settingsOf(provider)
  const emptied = settings.flatMap(({ name, kind }) => (kind === 'secret' ? [] : [[name, null] as const]))
  return { provider, ...Object.fromEntries([...emptied, ...enteredOf(settings, values)]), fallback }
}
