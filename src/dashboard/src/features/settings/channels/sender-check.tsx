/** The DNS records of the sender's domain that mail receivers look up, and what to publish there. */
import { useId, useState } from 'react'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import { Badge, type BadgeKind } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import type { ChannelSettings } from './provider-forms.ts'

export type Checked = DataOf<'/dashboard/api/b/{businessId}/channels/{channel}/check', 'post'>
type Finding = Checked['findings'][number]

interface SenderCheckProps {
  businessId: string
  channel: ChannelSettings['channel']
}

export function SenderCheck({ businessId, channel }: SenderCheckProps) {
  const texts = textsOf('channels')
  const title = useId()
  const [checked, setChecked] = useState<Checked | null>(null)
  const form = useForm(async ({ selectors = '' }) => {
    setChecked(null)
    const wanted = selectors.split(/[\s,]+/).filter((one) => one !== '')
    const body = wanted.length === 0 ? {} : { selectors: wanted }
    const params = { path: { businessId, channel } }
    setChecked(await take(api.POST('/dashboard/api/b/{businessId}/channels/{channel}/check', { params, body })))
  })
  return (
    <section aria-labelledby={title} className="stack">
      <h3 id={title}>{texts.check}</h3>
      <form {...form.props} className="stack" noValidate>
        <TextField
          name="selectors"
          label={texts.selectors}
          hint={texts.selectorsHint}
          error={form.issueOf('selectors')}
          dir="ltr"
          autoComplete="off"
          spellCheck={false}
          maxLength={1024}
        />
        <div className="row">
          <Button type="submit" icon="search" isPending={form.isPending}>
            {texts.runCheck}
          </Button>
          <span className="muted small">{texts.testHint}</span>
        </div>
        <ErrorBox error={form.error} />
      </form>
      <div role="status">{checked !== null && <Findings checked={checked} />}</div>
    </section>
  )
}

const KINDS: Record<string, BadgeKind> = { ok: 'good', weak: 'warn', missing: 'bad', wrong: 'bad' }

export function Findings({ checked: { domain, findings } }: { checked: Checked }) {
  const texts = textsOf('channels')
  return (
    <div className="stack">
      <p>
        {texts.domain}: <bdi className="foreign">{domain}</bdi>
      </p>
      <ul className="stack">
        {findings.map((finding) => (
          <li key={finding.record} className="stack">
            <Found finding={finding} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function Found({ finding: { record, state, name, found, message, publish } }: { finding: Finding }) {
  const texts = textsOf('channels')
  const states: Record<string, string> = texts.recordStates
  return (
    <>
      <p className="row">
        <strong>{record.toUpperCase()}</strong>
        <Badge kind={KINDS[state] ?? 'neutral'}>{states[state] ?? state}</Badge>
        <code dir="ltr" className="foreign">
          {name}
        </code>
      </p>
      <p className="small">{texts.records[record]}</p>
      {/* The server's message is in English, whatever the language of the page. */}
      <p dir="auto" className="foreign">
        {message}
      </p>
      {found.length > 0 && <Code text={found.join('\n')} label={texts.published(name)} />}
      {publish !== null && <Code text={publish} label={texts.publish(name)} />}
    </>
  )
}
