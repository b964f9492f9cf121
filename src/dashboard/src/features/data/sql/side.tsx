/** Beside the editor: saved queries, examples, and the views with their columns. */
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Confirm } from '../../../parts/overlay/confirm.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { EXAMPLES } from './examples.ts'
import { type SavedQuery, type Schema, savedQueriesQuery } from './queries.ts'
import styles from './sql.module.css'

interface SideProps {
  schema: UseQueryResult<Schema>
  saved: UseQueryResult<{ queries: SavedQuery[] }>
  openedId: string | undefined
  onInsert: (text: string) => void
  onSaved: (query: SavedQuery) => void
  onDeleted: () => void
  onExample: (statement: string) => void
}

export function Side({ schema, saved, openedId, onInsert, onSaved, onDeleted, onExample }: SideProps) {
  const texts = textsOf('sql')
  return (
    <div className={styles['side']}>
      <Fold title={texts.saved} isOpen>
        <Saved saved={saved} openedId={openedId} onSaved={onSaved} onDeleted={onDeleted} />
      </Fold>
      <Fold title={texts.examples}>
        <Examples onExample={onExample} />
      </Fold>
      <Fold title={texts.views} isOpen>
        <Views schema={schema} onInsert={onInsert} />
      </Fold>
    </div>
  )
}

interface FoldProps {
  title: string
  isOpen?: boolean
  children: ReactNode
}

function Fold({ title, isOpen = false, children }: FoldProps) {
  return (
    <details className={styles['fold']} open={isOpen}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  )
}

function Saved({
  saved,
  openedId,
  onSaved,
  onDeleted,
}: Pick<SideProps, 'saved' | 'openedId' | 'onSaved' | 'onDeleted'>) {
  const texts = textsOf('sql')
  const [deleted, setDeleted] = useState<SavedQuery | null>(null)
  const { data, error, refetch } = saved
  if (data === undefined)
    return error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />
  if (data.queries.length === 0) return <p className="muted small">{texts.noSaved}</p>
  return (
    <>
      <ul>
        {data.queries.map((query) => (
          <li key={query.id} className={styles['saved']}>
            <button
              type="button"
              className={styles['entry']}
              aria-current={query.id === openedId || undefined}
              onClick={() => onSaved(query)}
            >
              <bdi className="foreign">{query.name}</bdi>
            </button>
            <Button
              kind="quiet"
              size="small"
              icon="trash"
              aria-label={texts.deleteQuery(query.name)}
              onClick={() => setDeleted(query)}
            />
          </li>
        ))}
      </ul>
      {deleted !== null && (
        <DeleteQuery
          query={deleted}
          onDone={deleted.id === openedId ? onDeleted : undefined}
          onClose={() => setDeleted(null)}
        />
      )}
    </>
  )
}

interface DeleteQueryProps {
  query: SavedQuery
  onDone: (() => void) | undefined
  onClose: () => void
}

function DeleteQuery({ query: { id, name }, onDone, onClose }: DeleteQueryProps) {
  const texts = textsOf('sql')
  const { id: businessId } = useBusiness()
  const client = useQueryClient()
  async function remove() {
    const params = { path: { businessId, queryId: id } }
    await take(api.DELETE('/dashboard/api/b/{businessId}/sql/queries/{queryId}', { params }))
    await client.invalidateQueries(savedQueriesQuery(businessId))
    onDone?.()
  }
  return (
    <Confirm title={texts.deleteTitle} action={texts.deleteTitle} onConfirm={remove} onClose={onClose}>
      {texts.deleteText(name)}
    </Confirm>
  )
}

function Examples({ onExample }: Pick<SideProps, 'onExample'>) {
  return [...Map.groupBy(EXAMPLES, ({ group }) => group)].map(([group, examples]) => (
    <div key={group} lang="en" dir="ltr">
      <h3 className={styles['group']}>{group}</h3>
      <ul>
        {examples.map(({ title, statement }) => (
          <li key={title}>
            <button type="button" className={styles['entry']} onClick={() => onExample(statement)}>
              {title}
            </button>
          </li>
        ))}
      </ul>
    </div>
  ))
}

function Views({ schema, onInsert }: Pick<SideProps, 'schema' | 'onInsert'>) {
  const { data, error, refetch } = schema
  if (data === undefined)
    return error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />
  return (
    <ul lang="en" dir="ltr">
      {data.views.map(({ name, description, columns }) => (
        <li key={name}>
          <details className={styles['view']}>
            <summary>
              <code>{name}</code>
            </summary>
            <p className="muted small">{description}</p>
            <ul>
              {columns.map((column) => (
                <li key={column.name}>
                  <button
                    type="button"
                    className={styles['entry']}
                    title={column.description}
                    onClick={() => onInsert(column.name)}
                  >
                    <code>{column.name}</code>
                    <span className={styles['type']}>{shortType(column.type)}</span>
                  </button>
                </li>
              ))}
            </ul>
          </details>
        </li>
      ))}
    </ul>
  )
}

/** Returns the type without `LowCardinality`, which only concerns storage. */
const shortType = (type: string): string =>
  type.replaceAll(/LowCardinality\(((?:[^()]|\([^()]*\))*)\)/g, '$1').replaceAll("'", '')
