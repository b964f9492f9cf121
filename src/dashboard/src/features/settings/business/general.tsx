import { useId } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { Settings } from '../queries.ts'
import { useSettingsForm } from './use-settings-form.ts'

export function General({ settings }: { settings: Settings }) {
  const texts = textsOf('settings')
  const shell = textsOf('shell')
  const canChange = useCan('business:write')
  const canChangeLimit = useCan('operations')
  const form = useSettingsForm(settings, ({ name, currency, country, timezone, rateLimit, pageIdentify, bots }) => ({
    ...(name !== undefined && { name: name.trim() }),
    ...(currency !== undefined && { currency: currency.trim().toUpperCase() }),
    ...(country !== undefined && { country: country.trim().toUpperCase() }),
    ...(timezone !== undefined && { timezone: timezone.trim() }),
    ...(rateLimit !== undefined && { rateLimit: Number(rateLimit) }),
    ...(pageIdentify !== undefined && { pageIdentify }),
    ...(bots !== undefined && { bots }),
  }))
  const common = (name: keyof Settings & string) => ({
    name,
    error: form.issueOf(name),
    readOnly: !canChange,
  })
  return (
    <Section title={texts.general} intro={canChange ? texts.generalIntro : texts.ownersOnly}>
      {/* The key resets the form when the settings have changed. */}
      <form {...form.props} className="stack" key={JSON.stringify(settings)}>
        <TextField {...common('name')} label={texts.name} defaultValue={settings.name} dir="auto" required />
        <Suggested
          {...common('currency')}
          label={texts.currency}
          hint={texts.currencyHint}
          defaultValue={settings.currency}
          suggestions={Intl.supportedValuesOf('currency')}
        />
        <TextField
          {...common('country')}
          label={texts.country}
          hint={texts.countryHint}
          defaultValue={settings.country ?? ''}
          maxLength={2}
          dir="ltr"
        />
        <Suggested
          {...common('timezone')}
          label={texts.timezone}
          hint={texts.timezoneHint}
          defaultValue={settings.timezone}
          suggestions={['UTC', ...Intl.supportedValuesOf('timeZone')]}
        />
        <TextField
          {...common('rateLimit')}
          readOnly={!canChangeLimit}
          type="number"
          min={1}
          label={texts.rateLimit}
          hint={canChangeLimit ? undefined : texts.rateLimitHint}
          defaultValue={settings.rateLimit}
          dir="ltr"
        />
        <SelectField
          name="pageIdentify"
          label={texts.pageIdentify}
          hint={texts.pageIdentifyHint}
          defaultValue={settings.pageIdentify}
          disabled={!canChange}
          error={form.issueOf('pageIdentify')}
          options={(['open', 'confirmed'] as const).map((value) => ({
            value,
            label: texts.pageIdentifyOptions[value],
          }))}
        />
        <SelectField
          name="bots"
          label={texts.bots}
          defaultValue={settings.bots}
          disabled={!canChange}
          error={form.issueOf('bots')}
          options={(['ignore', 'allow'] as const).map((value) => ({ value, label: texts.botsOptions[value] }))}
        />
        <ErrorBox error={form.error} />
        {canChange && (
          <div className="actions">
            <Button kind="primary" type="submit" isPending={form.isPending}>
              {shell.save}
            </Button>
          </div>
        )}
      </form>
    </Section>
  )
}

/** A text field with a native list of suggestions. */
function Suggested({ suggestions, ...props }: Parameters<typeof TextField>[0] & { suggestions: readonly string[] }) {
  const id = useId()
  return (
    <>
      <TextField {...props} list={id} dir="ltr" autoComplete="off" spellCheck={false} />
      <datalist id={id}>
        {suggestions.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </>
  )
}
