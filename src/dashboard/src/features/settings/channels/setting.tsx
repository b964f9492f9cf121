/** The field of one setting of a provider. */
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import type { FormState } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { type Provider, type SettingForm, textOf } from './provider-forms.ts'

interface SettingProps {
  setting: SettingForm
  provider: Provider
  /** The settings that are stored, for the provider that they are of. */
  stored: { provider: Provider; secrets: readonly string[] }
  form: FormState
}

export function Setting({ setting: { name, kind }, provider, stored, form }: SettingProps) {
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
