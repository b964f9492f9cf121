/** Edits a campaign as a form or as JSON. Unsaved input is kept in the browser. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useMemo, useRef, useState } from 'react'
import { ApiError, type Issue } from '../../../client.ts'
import { DraftEditor } from '../../../parts/draft/draft-editor.tsx'
import { DraftNotes } from '../../../parts/draft/draft-notes.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Tab, Tabs } from '../../../parts/page/tabs.tsx'
import { useDraft } from '../../../parts/draft/use-draft.ts'
import { textsOf } from '../../../texts/index.ts'
import type { Campaign } from '../queries.ts'
import { templatesQuery } from '../../templates/links.ts'
import { useFocus } from '../../../parts/action/use-focus.ts'
import { fieldsQuery } from '../../rules/queries.ts'
import { type CampaignBody, editedFieldsOf, newCampaign } from './definition.ts'
import { CampaignContext, type CampaignEditing, EVENTS, useCampaignEditing } from './editing.ts'
import { CampaignJson } from './json-view.tsx'
import { Issues } from './parts.tsx'
import type { EditorSearch } from '../../rules/editor-search.ts'
import { RulesFields } from './rules-fields.tsx'
import { NameField, StartFields } from './start-fields.tsx'
import { StepList } from './step-list.tsx'
import { useSave } from './use-save.ts'

interface EditorProps {
  businessId: string
  /** Undefined for a new campaign. */
  campaign: Campaign | undefined
}

const FORM = 'campaign'
const INVALID = '[aria-invalid], [role=alert]'
const NO_ISSUES: readonly Issue[] = []

export function Editor({ businessId, campaign }: EditorProps) {
  const texts = textsOf('campaigns')
  const stored = useMemo(() => (campaign === undefined ? newCampaign() : editedFieldsOf(campaign)), [campaign])
  const state = useDraft<CampaignBody>(stored, {
    storage: 'local',
    key: `sluice.draft.campaign.${businessId}.${campaign?.campaignId ?? 'new'}`,
  })
  const save = useSave({ businessId, campaign }, () => state.accept(stored))
  const templates = useQuery(templatesQuery(businessId)).data
  const [isFaulty, setFaulty] = useState(false)
  const [announcement, announce] = useState('')
  const frame = useRef<HTMLDivElement>(null)
  const focus = useFocus(frame)
  const isJson = useSearch({ strict: false, select: ({ view }: EditorSearch) => view === 'json' })
  const isBlocked = isFaulty && isJson
  const issues = save.error instanceof ApiError ? save.error.issues : NO_ISSUES
  const editing: CampaignEditing = {
    businessId,
    value: state.draft,
    issues,
    templates,
    change(value, wanted) {
      save.reset()
      // The server checks what a person edits.
      state.change(value as CampaignBody)
      if (wanted !== undefined) focus(`[data-focus="${wanted}"]`)
    },
    announce,
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isBlocked) save.mutate(state.draft, { onError: () => focus(INVALID) })
  }
  return (
    <CampaignContext value={editing}>
      <DraftEditor
        title={campaign === undefined ? texts.newTitle : texts.editTitle}
        intro={campaign && <bdi className="foreign">{campaign.name}</bdi>}
        form={FORM}
        isSaving={save.isPending}
        isBlocked={isBlocked}
        announcement={announcement}
      >
        <div ref={frame} className="stack">
          {campaign !== undefined && campaign.status !== 'draft' && <Note>{texts.makesVersion}</Note>}
          <DraftNotes state={state} />
          <ErrorBox error={issues.length > 0 ? null : save.error} />
          <Tabs label={textsOf('campaign-editor').views}>
            <ViewTab view={undefined} isShown={!isJson}>
              {textsOf('campaign-editor').form}
            </ViewTab>
            <ViewTab view="json" isShown={isJson}>
              JSON
            </ViewTab>
          </Tabs>
          {isJson ? (
            <form id={FORM} noValidate onSubmit={submit}>
              <CampaignJson onFault={setFaulty} />
            </form>
          ) : (
            <FormView campaign={campaign} onSubmit={submit} />
          )}
        </div>
        <Events businessId={businessId} />
      </DraftEditor>
    </CampaignContext>
  )
}

const SHOWN = [
  'name',
  'trigger',
  'goal',
  'canEnterAgain',
  'enrolPer',
  'whileActive',
  'quietHours',
  'caps',
  'holdOut',
  'tracking',
]

/** The form element contains only the name, so that Enter in another field does not save. */
function FormView({ campaign, onSubmit }: Pick<EditorProps, 'campaign'> & { onSubmit: (event: FormEvent) => void }) {
  const texts = textsOf('campaign-editor')
  const isLocked = campaign !== undefined && campaign.status !== 'draft'
  return (
    <>
      <UnplacedIssues />
      <form id={FORM} noValidate onSubmit={onSubmit} className="card">
        <NameField />
      </form>
      <StartFields isNew={campaign === undefined} isLocked={isLocked} />
      <Section title={texts.steps} intro={texts.stepsIntro}>
        <StepList path="steps" label={texts.steps} />
      </Section>
      <RulesFields hasHours={campaign !== undefined && campaign.quietHours !== undefined} />
    </>
  )
}

/** Shows issues of fields that the form does not have, and of the list of steps itself. */
function UnplacedIssues() {
  const { issues } = useCampaignEditing()
  return (
    <Issues
      issues={issues.filter(({ path }) => !path.startsWith('steps[') && !SHOWN.includes(path.split(/[.[]/)[0] ?? ''))}
    />
  )
}

interface ViewTabProps {
  view: EditorSearch['view']
  isShown: boolean
  children: ReactNode
}

function ViewTab({ view, isShown, children }: ViewTabProps) {
  return (
    <Tab
      to="."
      search={{ view }}
      replace
      activeOptions={{ exact: true, includeSearch: true }}
      {...(isShown && { 'aria-current': 'page' as const })}
    >
      {children}
    </Tab>
  )
}

function Events({ businessId }: { businessId: string }) {
  const groups = useQuery(fieldsQuery(businessId, '')).data?.groups
  const fields = groups?.find(({ group }) => group === 'Events')?.fields ?? []
  const names = new Set(fields.map(({ condition }) => String(condition['event'])))
  return (
    <datalist id={EVENTS}>
      {[...names].map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  )
}
