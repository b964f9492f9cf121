/** The texts by language. */
import { useState } from 'react'
import { languagesWithoutUnsubscribe } from '../../../../../rules/messages/unsubscribe-link.ts'
import { languagesWithBareOutput } from '../../../../../rules/messages/webhook-json.ts'
import type { Issue } from '../../../client.ts'
import { locale } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { SelectField, TextAreaField, TextField } from '../../../parts/form/field.tsx'
import { Icon } from '../../../parts/value/icon.tsx'
import { IssueText } from '../../../parts/form/issue-text.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Picker } from '../../../parts/overlay/picker.tsx'
import { TabList } from '../../../parts/page/tab-list.tsx'
import { textsOf } from '../../../texts/index.ts'
import { sayAtField } from '../../../without-path.ts'
import { FIELDS, type FieldForm, type Variant, textIn, withField } from '../fields.ts'
import { type TemplateDraft, withLanguage, withoutLanguage } from './draft.ts'
import { SmsCount } from './sms-count.tsx'
import styles from './template.module.css'

interface VariantsProps {
  draft: TemplateDraft
  /** Language that is shown. */
  shown: string
  issues: readonly Issue[]
  canEdit: boolean
  onShow: (language: string) => void
  onChange: (draft: TemplateDraft) => void
}

export function Variants({ draft, shown, issues, canEdit, onShow, onChange }: VariantsProps) {
  const texts = textsOf('templates')
  const languages = Object.keys(draft.variants)
  const own = issues.filter(({ path }) => isOf(path, `variants.${shown}`))
  const fields = FIELDS[draft.channel].map(({ name }) => `variants.${shown}.${name}`)
  const others = own.filter(({ path }) => !fields.some((field) => isOf(path, field)))
  const add = (language: string) => {
    onChange(withLanguage(draft, language, shown))
    onShow(language)
  }
  return (
    <Section title={texts.content}>
      <TabList
        label={texts.languages}
        tabs={languages.map((key) => ({
          key,
          label: nameOfLanguage(key),
          isFaulty: issues.some(({ path }) => isOf(path, `variants.${key}`)),
        }))}
        chosen={shown}
        onChoose={onShow}
        actions={canEdit && <AddLanguage known={languages} onAdd={add} />}
      >
        <div className="stack">
          {others.map((issue) => (
            <p key={issue.path + issue.message} role="alert" className={styles['issue']}>
              <Icon name="warn" size={14} />
              <span>
                <IssueText {...issue} />
              </span>
            </p>
          ))}
          <Fields
            key={shown}
            channel={draft.channel}
            variant={draft.variants[shown] ?? {}}
            issueOf={(name) => {
              const found = own.find(({ path }) => isOf(path, `variants.${shown}.${name}`))
              return found && sayAtField(found)
            }}
            canEdit={canEdit}
            onChange={(variant) => onChange({ ...draft, variants: { ...draft.variants, [shown]: variant } })}
          />
          {draft.channel === 'email' &&
            languagesWithoutUnsubscribe({ [shown]: draft.variants[shown] ?? {} }).length > 0 && (
              <Note>{texts.noUnsubscribe}</Note>
            )}
          {draft.channel === 'webhook' &&
            languagesWithBareOutput({ [shown]: draft.variants[shown] ?? {} }).length > 0 && (
              <Note>{texts.bareOutput}</Note>
            )}
          {draft.channel === 'sms' && <SmsCount text={draft.variants[shown]?.text ?? ''} />}
          {canEdit && languages.length > 1 && (
            <div>
              <Button
                icon="trash"
                size="small"
                onClick={() => {
                  const next = withoutLanguage(draft, shown)
                  onChange(next)
                  onShow(next.defaultLanguage)
                }}
              >
                {texts.removeLanguage(nameOfLanguage(shown))}
              </Button>
            </div>
          )}
        </div>
      </TabList>
    </Section>
  )
}

const isOf = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`)

interface FieldsProps {
  channel: TemplateDraft['channel']
  variant: Variant
  issueOf: (name: string) => string | undefined
  canEdit: boolean
  onChange: (variant: Variant) => void
}

function Fields({ channel, variant, issueOf, canEdit, onChange }: FieldsProps) {
  const [wantsMjml, setWantsMjml] = useState(false)
  const isMjml = variant.mjml !== undefined || (wantsMjml && variant.html === undefined)
  const hidden = isMjml ? 'html' : 'mjml'
  return FIELDS[channel]
    .filter(({ name }) => name !== hidden)
    .map((form) => (
      <div key={form.name} className="stack">
        {(form.name === 'html' || form.name === 'mjml') && (
          <FormatField
            isMjml={isMjml}
            canEdit={canEdit}
            onChange={(isNext) => {
              setWantsMjml(isNext)
              onChange(asFormat(variant, isNext))
            }}
          />
        )}
        <Field form={form} variant={variant} error={issueOf(form.name)} canEdit={canEdit} onChange={onChange} />
      </div>
    ))
}

/** Changes the format of the text from HTML to MJML or back. */
const asFormat = (variant: Variant, isMjml: boolean): Variant => {
  const { html, mjml, ...rest } = variant
  const text = html ?? mjml
  return text === undefined ? rest : { ...rest, [isMjml ? 'mjml' : 'html']: text }
}

interface FormatProps {
  isMjml: boolean
  canEdit: boolean
  onChange: (isMjml: boolean) => void
}

function FormatField({ isMjml, canEdit, onChange }: FormatProps) {
  const texts = textsOf('templates')
  return (
    <div className={styles['format']}>
      <SelectField
        name="format"
        label={texts.format}
        value={isMjml ? 'mjml' : 'html'}
        disabled={!canEdit}
        options={[
          { value: 'html', label: 'HTML' },
          { value: 'mjml', label: 'MJML' },
        ]}
        onChange={(event) => onChange(event.target.value === 'mjml')}
      />
    </div>
  )
}

interface FieldProps extends Pick<FieldsProps, 'variant' | 'canEdit' | 'onChange'> {
  form: FieldForm
  error: string | undefined
}

function Field({ form: { name, kind, isTemplate }, variant, error, canEdit, onChange }: FieldProps) {
  const texts = textsOf('templates')
  const common = {
    name,
    label: texts.fields[name],
    hint: texts.fieldHints[name],
    error,
    value: textIn(variant, name),
    readOnly: !canEdit,
    spellCheck: kind === 'prose' || name === 'subject',
    dir: kind === 'code' || !isTemplate ? ('ltr' as const) : ('auto' as const),
    ...(isTemplate && { 'data-field': name }),
    onChange: (event: { target: { value: string } }) => onChange(withField(variant, name, event.target.value)),
  }
  if (kind === 'line') return <TextField {...common} autoComplete="off" />
  return (
    <div className={kind === 'code' ? styles['code'] : undefined}>
      <TextAreaField {...common} rows={kind === 'code' ? 18 : 5} />
    </div>
  )
}

/** Common languages of templates. Others can be typed. */
const OFFERED = 'en de fr es it pt pt-BR nl pl cs da sv nb fi hu ro el tr ru uk he ar hi ja ko zh zh-TW th vi id'.split(
  ' ',
)
const NAMES = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' })

export function nameOfLanguage(code: string): string {
  try {
    return NAMES.of(code) ?? code
  } catch {
    // Not a valid language code. The server reports that.
    return code
  }
}

function AddLanguage({ known, onAdd }: { known: string[]; onAdd: (language: string) => void }) {
  const texts = textsOf('templates')
  const [wanted, setWanted] = useState('')
  const typed = wanted.trim()
  const codes = OFFERED.includes(typed) || !/^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(typed) ? OFFERED : [...OFFERED, typed]
  const options = codes
    .filter((code) => !known.includes(code))
    .map((code) => ({ key: code, label: nameOfLanguage(code), detail: code }))
    .filter(({ key, label }) => `${label} ${key}`.toLocaleLowerCase().includes(typed.toLocaleLowerCase()))
  return (
    <Picker
      label={texts.addLanguage}
      placeholder={texts.findLanguage}
      icon="plus"
      size="small"
      kind="quiet"
      wanted={wanted}
      onSearch={setWanted}
      groups={[{ title: texts.languages, options }]}
      onChoose={({ key }) => onAdd(key)}
    >
      {texts.addLanguage}
    </Picker>
  )
}
