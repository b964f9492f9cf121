import { useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { CheckboxField, SelectField, TextField } from '../../../parts/form/field.tsx'
import { Page, Section } from '../../../parts/page/page.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { setLanguage, setShortcutsOn, setTheme, shortcutsOn, THEMES, type Theme, theme } from '../../../preferences.ts'
import { meQuery, useMe } from '../../../session/session.ts'
import { useStore } from '../../../store.ts'
import { type Language, LANGUAGES, language, textsOf } from '../../../texts/index.ts'
import { Sessions } from './sessions.tsx'
import { SecondStep } from './second-step.tsx'

export function AccountPage() {
  const texts = textsOf('account')
  return (
    <Page title={texts.title} width="text">
      <Profile />
      <Appearance />
      <Password />
      <SecondStep />
      <Sessions />
    </Page>
  )
}

function Profile() {
  const texts = textsOf('account')
  const shell = textsOf('shell')
  const { user } = useMe()
  const client = useQueryClient()
  const form = useForm(async ({ name = '' }) => {
    client.setQueryData(meQuery.queryKey, await take(api.PUT('/dashboard/api/me', { body: { name } })))
    showToast(shell.saved)
  })
  return (
    <Section title={texts.profile}>
      <form {...form.props} className="stack">
        <TextField name="email" label={texts.email} value={user.email} dir="ltr" readOnly />
        <TextField
          name="name"
          label={texts.name}
          defaultValue={user.name}
          autoComplete="name"
          dir="auto"
          error={form.issueOf('name')}
        />
        <ErrorBox error={form.error} />
        <div className="actions">
          <Button type="submit" isPending={form.isPending}>
            {shell.save}
          </Button>
        </div>
      </form>
    </Section>
  )
}

function Appearance() {
  const texts = textsOf('account')
  const shell = textsOf('shell')
  return (
    <Section title={texts.appearance} intro={texts.appearanceIntro}>
      <SelectField
        name="theme"
        label={shell.theme.label}
        value={useStore(theme)}
        onChange={(event) => setTheme(event.target.value as Theme)}
        options={THEMES.map((value) => ({ value, label: shell.theme[value] }))}
      />
      <SelectField
        name="language"
        label={shell.language}
        value={language}
        onChange={(event) => setLanguage(event.target.value as Language)}
        options={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
      />
      <CheckboxField
        name="shortcuts"
        label={shell.shortcuts.on}
        hint={shell.shortcuts.hint}
        checked={useStore(shortcutsOn)}
        onChange={(event) => setShortcutsOn(event.target.checked)}
      />
    </Section>
  )
}

function Password() {
  const texts = textsOf('account')
  const { user } = useMe()
  const client = useQueryClient()
  const form = useForm(async ({ current, password = '' }, element) => {
    const body = { password, ...(current && { current }) }
    client.setQueryData(meQuery.queryKey, await take(api.PUT('/dashboard/api/me/password', { body })))
    await client.invalidateQueries({ queryKey: ['me', 'sessions'] })
    element.reset()
    showToast(texts.changed)
  })
  return (
    <Section title={texts.password} intro={texts.passwordIntro}>
      <form {...form.props} className="stack">
        <input type="email" value={user.email} autoComplete="username" readOnly hidden />
        {user.hasPassword && (
          <TextField
            name="current"
            type="password"
            label={texts.current}
            autoComplete="current-password"
            dir="ltr"
            required
            error={form.issueOf('current')}
          />
        )}
        <TextField
          name="password"
          type="password"
          label={texts.new}
          hint={texts.hint}
          autoComplete="new-password"
          dir="ltr"
          required
          error={form.issueOf('password')}
        />
        <ErrorBox error={form.error} />
        <div className="actions">
          <Button type="submit" isPending={form.isPending}>
            {user.hasPassword ? texts.change : texts.set}
          </Button>
        </div>
      </form>
    </Section>
  )
}
