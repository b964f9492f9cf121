import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextAreaField, TextField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import type { Settings } from '../queries.ts'
import styles from '../settings.module.css'
import { useSettingsForm } from './use-settings-form.ts'

export function Origins({ settings }: { settings: Settings }) {
  const texts = textsOf('settings')
  const shell = textsOf('shell')
  const canChange = useCan('business:write')
  const form = useSettingsForm(settings, ({ origins = '' }) => ({ origins: origins.split(/\s+/).filter(Boolean) }))
  return (
    <Section title={texts.origins} intro={texts.originsIntro}>
      <form {...form.props} className="stack" key={settings.origins.join()}>
        <TextAreaField
          name="origins"
          label={texts.originsLabel}
          hint={texts.originsHint}
          defaultValue={settings.origins.join('\n')}
          rows={4}
          dir="ltr"
          spellCheck={false}
          readOnly={!canChange}
          error={form.issueOf('origins')}
        />
        <ErrorBox error={form.error} />
        {canChange && (
          <div className="actions">
            <Button type="submit" isPending={form.isPending}>
              {shell.save}
            </Button>
          </div>
        )}
      </form>
      {canChange && <TestOrigin businessId={settings.businessId} />}
    </Section>
  )
}

interface Tested {
  isAccepted: boolean
  reason: 'any_origin' | 'listed' | 'not_listed' | 'not_an_origin'
  origin: string | null
  similar: string | null
}

function TestOrigin({ businessId }: { businessId: string }) {
  const texts = textsOf('settings')
  const [tested, setTested] = useState<Tested | null>(null)
  const form = useForm(async ({ origin = '' }) => {
    const params = { path: { businessId } }
    const body = { origin: origin.trim() }
    setTested(await take(api.POST('/dashboard/api/b/{businessId}/origins/test', { params, body })))
  })
  return (
    <form {...form.props} className="stack">
      <div className={styles['test']}>
        <TextField
          name="origin"
          label={texts.testLabel}
          placeholder="https://shop.example"
          dir="ltr"
          required
          error={form.issueOf('origin')}
        />
        <Button type="submit" isPending={form.isPending}>
          {texts.test}
        </Button>
      </div>
      <ErrorBox error={form.error} />
      <div role="status">
        {tested !== null && (
          <p className="row">
            <Badge kind={tested.isAccepted ? 'good' : 'bad'}>
              {tested.isAccepted ? texts.accepted : texts.notAccepted}
            </Badge>
            <span>
              {texts.testReasons[tested.reason]} {tested.origin !== null && <bdi>{tested.origin}</bdi>}
            </span>
            {tested.similar !== null && (
              <span className="muted">
                {texts.similar} <bdi>{tested.similar}</bdi>
              </span>
            )}
          </p>
        )}
      </div>
    </form>
  )
}
