/** A template: its name, its texts by language, the values that they can use, and a preview. */
import { type MessageChannel, MESSAGE_CHANNELS } from '../../rules/channels.ts'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useMemo, useRef, useState } from 'react'
import { ApiError, type Issue } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { DraftEditor } from '../../../parts/draft/draft-editor.tsx'
import { DraftNotes } from '../../../parts/draft/draft-notes.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useDraft } from '../../../parts/draft/use-draft.ts'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { sayAtField } from '../../../without-path.ts'
import { useFocus } from '../../../parts/action/use-focus.ts'
import type { Template } from '../queries.ts'
import { DeleteTemplate } from './delete-template.tsx'
import { type TemplateDraft, draftOf, keyOf } from './draft.ts'
import { Preview } from './preview.tsx'
import { Readable } from './readable.tsx'
import styles from './template.module.css'
import { useInsertion } from './use-insertion.ts'
import { useSave } from './use-save.ts'
import { Variants, nameOfLanguage } from './variants.tsx'

interface EditorProps {
  businessId: string
  /** Undefined for a new template. */
  template: Template | undefined
}

const FORM = 'template'
const NO_ISSUES: readonly Issue[] = []

export function Editor({ businessId, template }: EditorProps) {
  const texts = textsOf('templates')
  const navigate = useNavigate()
  const canEdit = useCan('audience:write')
  const stored = useMemo(() => draftOf(template), [template])
  const state = useDraft(stored, { storage: 'local', key: keyOf(businessId, template?.templateId) })
  const { draft, isChanged } = state
  const save = useSave(businessId, template)
  const [shownLanguage, setLanguage] = useState(draft.defaultLanguage)
  const shown = shownLanguage in draft.variants ? shownLanguage : (Object.keys(draft.variants)[0] ?? '')
  const frame = useRef<HTMLDivElement>(null)
  const focus = useFocus(frame)
  const change = (next: TemplateDraft) => {
    save.reset()
    state.change(next)
  }
  const insertion = useInsertion(draft.variants[shown] ?? {}, (variant) =>
    change({ ...draft, variants: { ...draft.variants, [shown]: variant } }),
  )
  const issues = save.error instanceof ApiError ? save.error.issues : NO_ISSUES
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate(draft, {
      onSuccess: ({ template: saved }) => {
        state.accept(draftOf(saved))
        showToast(texts.saved)
        const path = { businessId, templateId: saved.templateId }
        if (template === undefined)
          void navigate({ to: '/dashboard/b/$businessId/templates/$templateId', params: path, replace: true })
      },
      onError: (error) => {
        const faulty = languageOf(error instanceof ApiError ? error.issues : NO_ISSUES, draft)
        if (faulty !== undefined) setLanguage(faulty)
        focus('[aria-invalid], [role=alert]')
      },
    })
  }
  return (
    <DraftEditor
      title={template === undefined ? texts.newTitle : template.name}
      intro={template && textsOf('campaigns').channels[template.channel]}
      form={FORM}
      canSave={canEdit}
      isSaving={save.isPending}
      actions={template && <Removal businessId={businessId} template={template} />}
      width="full"
    >
      <div ref={frame} className={styles['columns']}>
        <div className="stack">
          <DraftNotes state={state} />
          <form id={FORM} noValidate onSubmit={submit} onFocus={insertion.onFocus} className="stack">
            <Heading draft={draft} isNew={template === undefined} issues={issues} canEdit={canEdit} onChange={change} />
            <Variants
              draft={draft}
              shown={shown}
              issues={issues}
              canEdit={canEdit}
              onShow={setLanguage}
              onChange={change}
            />
          </form>
          <ErrorBox error={issues.some(({ path }) => path !== '') ? null : save.error} />
        </div>
        <aside className={styles['aside']}>
          <Readable businessId={businessId} onInsert={canEdit ? insertion.insert : undefined} />
        </aside>
      </div>
      {template !== undefined && <Preview businessId={businessId} template={template} isChanged={isChanged} />}
    </DraftEditor>
  )
}

/** Returns the language of the first issue in a variant. */
const languageOf = (issues: readonly Issue[], { variants }: TemplateDraft): string | undefined =>
  issues
    .map(({ path }) => Object.keys(variants).find((one) => `${path}.`.startsWith(`variants.${one}.`)))
    .find((one) => one !== undefined)

function Removal({ businessId, template }: { businessId: string; template: Template }) {
  const texts = textsOf('templates')
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Button kind="danger" onClick={() => setDeleting(true)}>
        {texts.remove}
      </Button>
      {isDeleting && <DeleteTemplate businessId={businessId} template={template} onClose={() => setDeleting(false)} />}
    </>
  )
}

interface HeadingProps {
  draft: TemplateDraft
  isNew: boolean
  issues: readonly Issue[]
  canEdit: boolean
  onChange: (draft: TemplateDraft) => void
}

function Heading({ draft, isNew, issues, canEdit, onChange }: HeadingProps) {
  const texts = textsOf('templates')
  const { channels } = textsOf('campaigns')
  const issueOf = (name: string) => {
    const found = issues.find(({ path }) => path === name)
    return found && sayAtField(found)
  }
  return (
    <div className={`card ${styles['heading']}`}>
      <TextField
        name="name"
        label={texts.name}
        value={draft.name}
        maxLength={256}
        dir="auto"
        autoComplete="off"
        readOnly={!canEdit}
        error={issueOf('name')}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
      {isNew && (
        <SelectField
          name="channel"
          label={texts.channel}
          value={draft.channel}
          options={MESSAGE_CHANNELS.map((value) => ({ value, label: channels[value] }))}
          error={issueOf('channel')}
          onChange={(event) => onChange({ ...draft, channel: event.target.value as MessageChannel })}
        />
      )}
      <SelectField
        name="defaultLanguage"
        label={texts.defaultLanguage}
        hint={texts.defaultLanguageHint}
        value={draft.defaultLanguage}
        disabled={!canEdit}
        options={Object.keys(draft.variants).map((value) => ({ value, label: nameOfLanguage(value) }))}
        error={issueOf('defaultLanguage')}
        onChange={(event) => onChange({ ...draft, defaultLanguage: event.target.value })}
      />
    </div>
  )
}
