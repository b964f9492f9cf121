/** When messages are sent, how many, and who is held out. */
import { MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { Button } from '../../../parts/action/button.tsx'
import { CheckboxField, SelectField, TextField } from '../../../parts/form/field.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { useMe, useRemedy } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from './campaign-editor.module.css'
import { type Json, getAt, isObject, listAt, setAt } from './definition.ts'
import { issueAt, otherIssues, useCampaignEditing } from './editing.ts'
import { Issues, NumberField } from './parts.tsx'

/** `hasHours`: the stored campaign has its own quiet hours. */
export function RulesFields({ hasHours }: { hasHours: boolean }) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  return (
    <Section title={texts.rules}>
      <QuietHours ofBusiness={hasHours ? 'default' : undefined} kinds={['default', 'none', 'own']} />
      <Caps hint={texts.capsHint} />
      <div className={styles['short']}>
        <NumberField
          name="holdOut"
          label={texts.holdOut}
          hint={texts.holdOutHint}
          value={value['holdOut'] ?? 0}
          error={issueAt(issues, 'holdOut')}
          onChange={(next) => change(setAt(value, 'holdOut', next))}
        />
      </div>
      <Tracking />
    </Section>
  )
}

const TRACKED = ['opens', 'clicks'] as const

/** Default: both are tracked. */
function Tracking() {
  const texts = textsOf('campaign-editor')
  const { isPublic } = useMe().installation
  const remedy = useRemedy(textsOf('campaigns').needsPublicUrl.remedies)
  const { value, issues, change } = useCampaignEditing()
  const isOn = (name: (typeof TRACKED)[number]) => getAt(value, `tracking.${name}`) !== false
  return (
    <fieldset className="stack" aria-label={texts.tracking}>
      <h3>{texts.tracking}</h3>
      {TRACKED.map((name) => (
        <CheckboxField
          key={name}
          name={`tracking.${name}`}
          label={texts.tracked[name]}
          hint={texts.trackedHints[name]}
          checked={isOn(name)}
          error={issueAt(issues, `tracking.${name}`)}
          onChange={(event) => change(setAt(value, `tracking.${name}`, event.target.checked))}
        />
      ))}
      {!isPublic && TRACKED.some(isOn) && (
        <Note>
          {texts.needsPublicUrl} {remedy}
        </Note>
      )}
      <Issues issues={otherIssues(issues, 'tracking', ['tracking.opens', 'tracking.clicks'])} />
    </fieldset>
  )
}

interface QuietHoursProps {
  kinds: readonly ('default' | 'none' | 'own')[]
  /** Value that selects the quiet hours of the business. Undefined: the field is omitted. */
  ofBusiness?: 'default' | undefined
}

export function QuietHours({ kinds, ofBusiness }: QuietHoursProps) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const hours = value['quietHours']
  const kind = hours === undefined || hours === 'default' ? 'default' : hours === null ? 'none' : 'own'
  const next = { default: ofBusiness, none: null, own: { from: '21:00', to: '09:00' } }
  return (
    <div className={styles['fields']}>
      <SelectField
        name="quietHours"
        label={texts.quietHours}
        value={kind}
        options={kinds.map((one) => ({ value: one, label: texts.quietKinds[one] }))}
        error={kind === 'own' ? undefined : issueAt(issues, 'quietHours')}
        onChange={(event) => change(setAt(value, 'quietHours', next[event.target.value as typeof kind]))}
      />
      {isObject(hours) &&
        (['from', 'to'] as const).map((end) => (
          <TextField
            key={end}
            name={`quietHours-${end}`}
            type="time"
            label={texts.quietEnds[end]}
            value={typeof hours[end] === 'string' ? hours[end] : ''}
            error={issueAt(issues, `quietHours.${end}`)}
            onChange={(event) => change(setAt(value, `quietHours.${end}`, event.target.value))}
          />
        ))}
      <Issues issues={kind === 'own' ? otherIssues(issues, 'quietHours', ['quietHours.from', 'quietHours.to']) : []} />
    </div>
  )
}

const CAP: Json = { channel: 'email', atMost: 3, days: 7, whenReached: 'wait' }

/** `hint` says which other caps apply. */
export function Caps({ hint }: { hint: string }) {
  const texts = textsOf('campaign-editor')
  const { value, issues, change } = useCampaignEditing()
  const caps = listAt(value, 'caps')
  return (
    <div className="stack">
      <h3>{texts.caps}</h3>
      <p className="muted small">{hint}</p>
      {caps.map((cap, at) => (
        <Cap key={at} cap={isObject(cap) ? cap : {}} at={at} />
      ))}
      <div>
        <Button
          kind="quiet"
          size="small"
          icon="plus"
          onClick={() => change(setAt(value, 'caps', [...caps, CAP]), `caps[${caps.length}]`)}
        >
          {texts.addCap}
        </Button>
      </div>
      <Issues
        issues={otherIssues(
          issues,
          'caps',
          caps.map((_, at) => `caps[${at}]`),
        )}
      />
    </div>
  )
}

function Cap({ cap, at }: { cap: Json; at: number }) {
  const texts = textsOf('campaign-editor')
  const { channels, channel } = textsOf('campaigns')
  const { value, issues, change } = useCampaignEditing()
  const path = `caps[${at}]`
  const set = (name: string, next: unknown) => change(setAt(value, `${path}.${name}`, next))
  const text = (name: string) => (typeof cap[name] === 'string' ? cap[name] : '')
  const fields = ['channel', 'atMost', 'days', 'whenReached'].map((name) => `${path}.${name}`)
  return (
    <div className={styles['fields']} role="group" aria-label={texts.cap(String(at + 1))}>
      <SelectField
        name={`${path}-channel`}
        label={channel}
        value={text('channel')}
        options={MESSAGE_CHANNELS.map((one) => ({ value: one, label: channels[one] }))}
        error={issueAt(issues, `${path}.channel`)}
        data-focus={path}
        onChange={(event) => set('channel', event.target.value)}
      />
      <NumberField
        name={`${path}-atMost`}
        label={texts.atMost}
        value={cap['atMost']}
        error={issueAt(issues, `${path}.atMost`)}
        onChange={(next) => set('atMost', next)}
      />
      <NumberField
        name={`${path}-days`}
        label={texts.inDays}
        value={cap['days']}
        error={issueAt(issues, `${path}.days`)}
        onChange={(next) => set('days', next)}
      />
      <SelectField
        name={`${path}-whenReached`}
        label={texts.whenReached}
        value={text('whenReached') || 'wait'}
        options={(['wait', 'skip'] as const).map((one) => ({ value: one, label: texts.capActions[one] }))}
        error={issueAt(issues, `${path}.whenReached`)}
        onChange={(event) => set('whenReached', event.target.value)}
      />
      <Button
        kind="quiet"
        icon="close"
        aria-label={texts.removeCap(String(at + 1))}
        onClick={() => change(setAt(value, 'caps', listAt(value, 'caps').toSpliced(at, 1)))}
      />
      <Issues issues={otherIssues(issues, path, fields)} />
    </div>
  )
}
