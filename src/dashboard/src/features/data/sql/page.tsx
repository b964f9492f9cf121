import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Suspense, lazy, useEffect, useMemo, useRef, useState } from 'react'
import { ApiError } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Skeleton } from '../../../parts/feedback/loading.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useBusiness, useCan, useRemedy } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { SaveToBoard } from '../../boards/links.ts'
import type { EditorHandle } from './code-editor.tsx'
import { EXAMPLES } from './examples.ts'
import { ParameterFields } from './parameter-fields.tsx'
import { parametersOf, valuesOf } from './parameters.ts'
import { type SavedQuery, type Schema, savedQueriesQuery, schemaQuery } from './queries.ts'
import { ResultView } from './result-view.tsx'
import type { SqlSearch } from './search.ts'
import { SaveQuery } from './save-query.tsx'
import { Side } from './side.tsx'
import styles from './sql.module.css'
import { useDraft } from '../../../parts/draft/use-draft.ts'
import type { SqlDraft } from './sql-draft.ts'
import { type Run, useRun } from './use-run.ts'

const CodeEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })))

export function SqlPage() {
  // Each business has a draft of its own, so another one gets another page.
  const { id } = useBusiness()
  return useCan('sql:run') ? <Sql key={id} /> : <NotFound />
}

/** What the editor shows first. */
const FIRST: SqlDraft = { statement: EXAMPLES[0]?.statement ?? '', values: {} }

function Sql() {
  const texts = textsOf('sql')
  const { id: businessId } = useBusiness()
  const search: SqlSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const schema = useQuery(schemaQuery(businessId))
  const saved = useQuery(savedQueriesQuery(businessId))
  const { draft, change: changeDraft } = useDraft(FIRST, { storage: 'session', key: `sluice.sql.${businessId}` })
  const change = (part: Partial<SqlDraft>) => changeDraft((before) => ({ ...before, ...part }))
  const run = useRun(businessId)
  const [isSaving, setSaving] = useState(false)
  const editor = useRef<EditorHandle | null>(null)
  const parameters = parametersOf(draft.statement)
  const opened = saved.data?.queries.find(({ id }) => id === search.query)
  const names = useMemo(() => namesOf(schema.data), [schema.data])
  const start = () => {
    if (draft.statement.trim() !== '') run.start(draft.statement, valuesOf(parameters, draft.values))
  }
  const show = (query: string | undefined) => void navigate({ to: '.', search: { query } })
  const write = (next: SqlDraft) => {
    change({ savedId: undefined, ...next })
    editor.current?.replace(next.statement)
  }
  const open = ({ id, statement, parameters: values }: SavedQuery) => write({ statement, values, savedId: id })
  // Compare IDs only: changes that the person has made since are kept across a reload.
  useEffect(() => {
    if (opened !== undefined && draft.savedId !== opened.id) open(opened)
  }, [opened?.id])
  return (
    <Page title={texts.title} intro={describeLimits(schema.data)} width="full">
      <div className={styles['columns']}>
        <div className="stack">
          <div className={styles['box']}>
            <Suspense fallback={<Skeleton height="210px" />}>
              <CodeEditor
                label={texts.statement}
                initial={draft.statement}
                schema={names}
                onChange={(statement) => change({ statement })}
                onRun={start}
                onReady={(ready) => {
                  editor.current = ready
                }}
              />
            </Suspense>
            <ParameterFields
              parameters={parameters}
              values={draft.values}
              onChange={(values) => change({ values })}
              onRun={start}
            />
            <div className={styles['bar']}>
              <Button kind="primary" icon="play" onClick={start} isPending={run.isRunning}>
                {texts.run}
              </Button>
              {run.isRunning ? (
                <Button icon="close" onClick={run.cancel}>
                  {textsOf('shell').cancel}
                </Button>
              ) : (
                <kbd aria-hidden="true">{textsOf('shell').control} Enter</kbd>
              )}
              <span className={styles['gap']} />
              {opened !== undefined && <SaveToBoard kind="sql" query={{ queryId: opened.id }} title={opened.name} />}
              <Button kind="quiet" onClick={() => setSaving(true)}>
                {texts.save}
              </Button>
            </div>
          </div>
          <Failure run={run} limits={schema.data?.limits} />
          {run.result !== null && <ResultView result={run.result} isStale={run.isRunning} />}
        </div>
        <Side
          schema={schema}
          saved={saved}
          openedId={opened?.id}
          onInsert={(text) => editor.current?.insert(text)}
          onSaved={(query) => {
            open(query)
            show(query.id)
          }}
          onDeleted={() => show(undefined)}
          onExample={(statement) => {
            write({ statement, values: {} })
            show(undefined)
          }}
        />
      </div>
      <p className="visually-hidden" role="status">
        {run.isRunning ? texts.running : ''}
      </p>
      {isSaving && (
        <SaveQuery
          businessId={businessId}
          opened={opened}
          statement={draft.statement}
          parameters={valuesOf(parameters, draft.values)}
          onSaved={(id) => {
            setSaving(false)
            change({ savedId: id })
            show(id)
          }}
          onClose={() => setSaving(false)}
        />
      )}
    </Page>
  )
}

const namesOf = (schema: Schema | undefined): Record<string, string[]> =>
  Object.fromEntries((schema?.views ?? []).map(({ name, columns }) => [name, columns.map((column) => column.name)]))

/** Used until the real limits are known. */
const AS_LONG = { seconds: 20, memoryBytes: 512 * 1024 ** 2, rows: 10_000 }

function describeLimits(schema: Schema | undefined) {
  const { seconds, memoryBytes, rows } = schema?.limits ?? AS_LONG
  const text = textsOf('sql').limits(String(seconds), formatNumber(memoryBytes / 1024 ** 2), formatNumber(rows))
  return schema === undefined ? <span style={{ visibility: 'hidden' }}>{text}</span> : text
}

/** Shows ClickHouse's own message about the statement, and Sluice's about limits. */
function Failure({ run: { error }, limits }: { run: Run; limits: Schema['limits'] | undefined }) {
  const texts = textsOf('sql')
  const remedy = useRemedy(texts.notSetUp.remedies)
  if (!(error instanceof ApiError)) return <ErrorBox error={error} />
  if (error.code === 'locked') return <ErrorBox error={error} text={`${texts.notSetUp.text} ${remedy}`} />
  if (error.code === 'rate_limited') return <ErrorBox error={error} text={texts.busy} />
  const [issue] = error.issues
  const ofLimits: Record<string, string | undefined> = {
    seconds: texts.tooSlow(String(limits?.seconds ?? '')),
    memory: texts.tooMuchMemory,
  }
  const limit = ofLimits[issue?.path ?? '']
  if (limit !== undefined) return <ErrorBox error={new ApiError(error.code, error.message)} text={limit} />
  if (issue?.path !== 'statement') return <ErrorBox error={error} />
  return (
    <div role="alert" className={styles['refused']}>
      <p>{texts.refused}</p>
      <pre dir="ltr" tabIndex={0} aria-label={texts.refused}>
        {issue.message}
      </pre>
    </div>
  )
}
