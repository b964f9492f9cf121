/** The fields of a destination, by its kind. */
import { CheckboxField, SelectField, TextField } from '../../parts/form/field.tsx'
import type { FormState } from '../../parts/form/use-form.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './deliveries.module.css'
import {
  ACTIONS,
  type ConversionType,
  type Kind,
  SECRETS,
  type SecretPart,
  type SettingName,
  TYPES,
  textOf,
} from './destination-values.ts'

interface FieldsProps {
  form: FormState
  kind: Kind
  name: string
  types: readonly ConversionType[]
  settings: Record<string, unknown>
  /** True for a new destination. Otherwise a stored secret may stay unchanged. */
  isNew: boolean
}

/** Remount this for each kind. */
export function DestinationFields({ form, kind, name, types, settings, isNew }: FieldsProps) {
  const texts = textsOf('deliveries')
  return (
    <>
      <TextField
        name="name"
        label={texts.name}
        defaultValue={name}
        maxLength={200}
        required
        error={form.issueOf('name')}
      />
      {kind === 'google' ? <Actions form={form} settings={settings} /> : <Types form={form} types={types} />}
      {kind === 'meta' && <MetaSettings form={form} settings={settings} />}
      {kind === 'google' && <GoogleSettings form={form} settings={settings} />}
      {kind === 'webhook' && <WebhookSettings form={form} settings={settings} />}
      {SECRETS[kind].map((part) => (
        <Secret key={part} part={part} form={form} isNew={isNew} />
      ))}
    </>
  )
}

function Types({ form, types }: Pick<FieldsProps, 'form' | 'types'>) {
  const texts = textsOf('deliveries')
  return (
    <fieldset name="types" className={styles['group']}>
      <legend className={styles['legend']}>{texts.types}</legend>
      <div className="row">
        {TYPES.map((type, index) => (
          <CheckboxField
            key={type}
            name={`types.${type}`}
            label={texts.typeNames[type]}
            defaultChecked={types.includes(type)}
            error={index === 0 ? form.issueOf('types') : undefined}
          />
        ))}
      </div>
    </fieldset>
  )
}

/** Google receives only the conversions that have an action. */
function Actions({ form, settings }: SettingsProps) {
  const texts = textsOf('deliveries')
  const [first] = ACTIONS
  return (
    <fieldset name="settings.conversionActions" className={styles['group']}>
      <legend className={styles['legend']}>{texts.conversionActions}</legend>
      <p className="muted small">{texts.conversionActionsHint}</p>
      <div className={styles['filters']}>
        {ACTIONS.map((name) => (
          <Setting
            key={name}
            name={name}
            form={form}
            settings={settings}
            inputMode="numeric"
            error={
              form.issueOf(`settings.${name}`) ??
              (name === first ? form.issueOf('settings.conversionActions') : undefined)
            }
          />
        ))}
      </div>
    </fieldset>
  )
}

type SettingsProps = Pick<FieldsProps, 'form' | 'settings'>

const SOURCES = ['email', 'phone_call', 'chat', 'physical_store', 'other'] as const

function MetaSettings({ form, settings }: SettingsProps) {
  const texts = textsOf('deliveries')
  return (
    <>
      <Setting name="pixelId" form={form} settings={settings} inputMode="numeric" required />
      <SelectField
        name="settings.actionSource"
        label={texts.settingNames.actionSource}
        defaultValue={textOf(settings, 'actionSource')}
        error={form.issueOf('settings.actionSource')}
        options={[
          { value: '', label: texts.sources.system_generated },
          ...SOURCES.map((value) => ({ value, label: texts.sources[value] })),
        ]}
      />
      <Setting name="testEventCode" form={form} settings={settings} hint={texts.testEventCodeHint} />
      <Setting name="apiVersion" form={form} settings={settings} hint={texts.apiVersionHint} />
    </>
  )
}

function GoogleSettings({ form, settings }: SettingsProps) {
  const texts = textsOf('deliveries')
  return (
    <>
      <Setting name="customerId" form={form} settings={settings} inputMode="numeric" required />
      <Setting
        name="loginCustomerId"
        form={form}
        settings={settings}
        inputMode="numeric"
        hint={texts.loginCustomerIdHint}
      />
      <SelectField
        name="settings.consent"
        label={texts.settingNames.consent}
        defaultValue={textOf(settings, 'consent')}
        error={form.issueOf('settings.consent')}
        options={(['', 'granted', 'denied'] as const).map((value) => ({
          value,
          label: texts.consents[value === '' ? 'unspecified' : value],
        }))}
      />
      <Setting name="apiVersion" form={form} settings={settings} hint={texts.apiVersionHint} />
    </>
  )
}

function WebhookSettings({ form, settings }: SettingsProps) {
  const texts = textsOf('deliveries')
  return (
    <>
      <Setting name="url" form={form} settings={settings} inputMode="url" required hint={texts.urlHint} />
      <CheckboxField
        name="settings.all"
        value="true"
        label={texts.settingNames.all}
        hint={texts.allHint}
        defaultChecked={textOf(settings, 'all') !== ''}
        error={form.issueOf('settings.all')}
      />
    </>
  )
}

interface SettingProps extends SettingsProps {
  name: SettingName
  hint?: string
  inputMode?: 'numeric' | 'url'
  required?: boolean
  error?: string | undefined
}

function Setting({ name, form, settings, error = form.issueOf(`settings.${name}`), ...rest }: SettingProps) {
  return (
    <TextField
      {...rest}
      name={`settings.${name}`}
      label={textsOf('deliveries').settingNames[name]}
      defaultValue={textOf(settings, name)}
      error={error}
      dir="ltr"
      autoComplete="off"
      spellCheck={false}
      maxLength={2048}
    />
  )
}

function Secret({ part, form, isNew }: { part: SecretPart } & Pick<FieldsProps, 'form' | 'isNew'>) {
  const texts = textsOf('deliveries')
  const isOptional = part === 'signingKey'
  const newHint = isOptional ? texts.ownKeyHint : undefined
  return (
    <TextField
      type="password"
      name={`secret.${part}`}
      label={texts.secretNames[part]}
      hint={isNew ? newHint : texts.secretStays}
      error={form.issueOf(`secret.${part}`)}
      required={isNew && !isOptional}
      dir="ltr"
      // The browser must neither store the secret nor fill in the person's password.
      autoComplete="new-password"
      spellCheck={false}
      maxLength={4096}
    />
  )
}
