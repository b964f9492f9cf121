/** The form of a segment: its name, its rule as a tree or as JSON, and a preview of the members. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextAreaField, TextField } from '../../../parts/form/field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { Tab, Tabs } from '../../../parts/page/tabs.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Segment } from '../queries.ts'
import { segmentsQuery } from '../../rules/queries.ts'
import { placeIssues } from '../../rules/place-issues.ts'
import { sayWarning } from '../../rules/say-warning.ts'
import { describeNode } from '../../rules/sentence.ts'
import { type Tree, ruleOf, treeOf } from '../../rules/tree.ts'
import { Sentence } from '../../rules/show/sentence.tsx'
import { useSpeaker } from '../../rules/use-speaker.ts'
import { type Draft, draftOf, draftPlace, stampOfDraft, textOfDraft } from './draft.ts'
import { type Editing, EditingContext, useEditing } from '../../rules/edit/editing.ts'
import { RootGroup } from '../../rules/edit/group-view.tsx'
import { RuleJson } from './json-view.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { PreviewPanel } from './preview.tsx'
import type { EditorSearch } from '../../rules/editor-search.ts'
import styles from '../../rules/edit/rule-editor.module.css'
import { DraftEditor } from '../../../parts/draft/draft-editor.tsx'
import { DraftNotes } from '../../../parts/draft/draft-notes.tsx'
import { removeDraft } from '../../../parts/draft/stored-drafts.ts'
import { useDraft } from '../../../parts/draft/use-draft.ts'
import { useFocus } from '../../../parts/action/use-focus.ts'
import { type RuleChecks, useRuleChecks } from './use-rule-checks.ts'
import { useSave } from './use-save.ts'

const FORM = 'segment'
const INVALID = '[aria-invalid], [role=alert]'

export function Editor({ businessId, segment }: { businessId: string; segment: Segment | undefined }) {
  const texts = textsOf('segments')
  const navigate = useNavigate()
  const speaker = useSpeaker(businessId)
  const place = draftPlace(businessId, segment?.segmentId)
  const stored = useMemo(() => draftOf(segment), [segment])
  const state = useDraft(stored, { ...place, textOf: textOfDraft, stampOf: stampOfDraft })
  const { draft, isChanged, change } = state
  const save = useSave(businessId, segment)
  const [isTried, setTried] = useState(false)
  const [announcement, announce] = useState('')
  const frame = useRef<HTMLDivElement>(null)
  const focus = useFocus(frame)
  const isBlocking = useRef(false)
  useEffect(() => {
    isBlocking.current = isChanged
  }, [isChanged])
  const isJson = useSearch({ strict: false, select: ({ view }: EditorSearch) => view === 'json' })
  const checks = useRuleChecks({ businessId, tree: draft.tree, speaker, saveError: save.error, isTried, isJson })
  const warnings = useMemo(() => {
    const translated = segment?.warnings.map((warning) => ({
      path: warning.path,
      message: sayWarning(segment.rule, warning),
    }))
    return placeIssues(translated ?? [], ruleOf(draft.tree).ids)
  }, [segment, draft.tree])
  const isTaken = useIsTaken(businessId, segment?.segmentId, draft.name)
  const nameIssue = nameIssueOf(draft, isTried, save.error === null ? [] : checks.issues)

  const changeDraft = (next: Partial<Draft>) => {
    save.reset()
    change((before) => ({ ...before, ...next }))
  }
  const changeTree = (tree: Tree, wanted?: string) => {
    changeDraft({ tree })
    if (wanted !== undefined) focus(`[data-focus="${wanted}"]`)
  }
  const leave = (segmentId: string) => {
    isBlocking.current = false
    removeDraft(place)
    showToast(texts.saved)
    void navigate({ to: '/dashboard/b/$businessId/segments/$segmentId', params: { businessId, segmentId } })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (!checks.isComplete || draft.name.trim() === '') return focus(INVALID)
    save.mutate(draft, { onSuccess: (saved) => leave(saved.segment.segmentId), onError: () => focus(INVALID) })
  }
  const editing: Editing = {
    businessId,
    tree: draft.tree,
    speaker,
    issues: checks.byNode,
    warnings: isChanged ? NONE : warnings,
    change: changeTree,
    announce,
  }
  return (
    <EditingContext value={editing}>
      <DraftEditor
        title={segment === undefined ? texts.newTitle : texts.editTitle}
        intro={segment && <bdi className="foreign">{segment.name}</bdi>}
        form={FORM}
        isSaving={save.isPending}
        announcement={announcement}
      >
        <div ref={frame} className={styles['columns']}>
          <div className="stack">
            <DraftNotes
              state={state}
              texts={{ discard: texts.discard, restored: texts.draftRestored, conflict: texts.draftConflict }}
            />
            <form id={FORM} noValidate onSubmit={submit}>
              <NameFields draft={draft} issue={nameIssue} isTaken={isTaken} onChange={changeDraft} />
            </form>
            <ErrorBox error={checks.issues.length > 0 ? null : save.error} />
            <RuleSection checks={checks} isJson={isJson} onChange={changeTree} />
          </div>
          <aside className={styles['aside']}>
            <PreviewPanel businessId={businessId} preview={checks.preview} isComplete={checks.isComplete} />
          </aside>
        </div>
        <LeaveDialog isChanged={isBlocking} onLeave={() => removeDraft(place)} />
      </DraftEditor>
    </EditingContext>
  )
}

const NONE = new Map<string, never>()

function nameIssueOf({ name }: Draft, isTried: boolean, issues: RuleChecks['issues']): string | undefined {
  if (isTried && name.trim() === '') return textsOf('segments').nameNeeded
  return issues.find(({ path }) => path === 'name')?.message
}

interface NameFieldsProps {
  draft: Draft
  issue: string | undefined
  isTaken: boolean
  onChange: (change: Partial<Draft>) => void
}

/** True when another segment has the name, which is allowed. */
function useIsTaken(businessId: string, segmentId: string | undefined, wanted: string): boolean {
  const { data } = useQuery(segmentsQuery(businessId))
  const isSame = (name: string) => name.toLowerCase() === wanted.trim().toLowerCase()
  return data?.segments.some((one) => one.segmentId !== segmentId && isSame(one.name)) ?? false
}

function NameFields({ draft, issue, isTaken, onChange }: NameFieldsProps) {
  const texts = textsOf('segments')
  return (
    <div className="card stack">
      <TextField
        name="name"
        label={texts.segmentName}
        value={draft.name}
        maxLength={256}
        dir="auto"
        autoComplete="off"
        error={issue}
        hint={isTaken ? texts.nameTwice : undefined}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <TextAreaField
        name="description"
        label={texts.description}
        value={draft.description}
        maxLength={2000}
        rows={1}
        dir="auto"
        onChange={(event) => onChange({ description: event.target.value })}
      />
    </div>
  )
}

interface RuleSectionProps {
  checks: RuleChecks
  isJson: boolean
  onChange: (tree: Tree) => void
}

function RuleSection({ checks, isJson, onChange }: RuleSectionProps) {
  const texts = textsOf('segments')
  const ofRule = checks.issues.filter(({ path }) => path.startsWith('rule'))
  return (
    <Section title={texts.rule}>
      <Tabs label={texts.views}>
        <ViewTab view={undefined} isShown={!isJson}>
          {texts.builder}
        </ViewTab>
        <ViewTab view="json" isShown={isJson}>
          {texts.json}
        </ViewTab>
      </Tabs>
      {isJson ? (
        <RuleJson rule={checks.rule} issues={ofRule} onChange={(rule) => onChange(treeOf(rule))} />
      ) : (
        <RootGroup />
      )}
      <InWords />
    </Section>
  )
}

function ViewTab({ view, isShown, children }: { view: 'json' | undefined; isShown: boolean; children: ReactNode }) {
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

function InWords() {
  const { tree, speaker } = useEditing()
  const { words } = speaker
  return (
    <div>
      <h3 className={styles['small']}>{textsOf('segments').meaning}</h3>
      {tree.root.nodes.length === 0 ? (
        <p className="muted">{words.everybody}</p>
      ) : (
        <p>
          {words.intro} <Sentence parts={describeNode(tree.root, speaker)} />
        </p>
      )}
    </div>
  )
}
