import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { ButtonLink } from '../../parts/action/button.tsx'
import { Code } from '../../parts/value/code.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { TextField } from '../../parts/form/field.tsx'
import { Loading } from '../../parts/feedback/loading.tsx'
import { textsOf } from '../../texts/index.ts'
import type { Description, Operation } from './description.ts'
import { Method } from './method.tsx'
import { OperationView } from './operation-view.tsx'
import { Prose } from './prose.tsx'
import { descriptionQuery } from './queries.ts'
import styles from './reference.module.css'
import type { ReferenceSearch } from './search.ts'
import { Rows } from './rows.tsx'

export function ReferencePage() {
  const texts = textsOf('reference')
  const { data, error, isPending, refetch } = useQuery(descriptionQuery)
  const search: ReferenceSearch = useSearch({ strict: false })
  const opened = data?.operations.find(({ operationId }) => operationId === search.operation)
  const title = opened?.summary ?? texts.title
  useEffect(() => {
    document.title = `${title} · Sluice`
  }, [title])
  return (
    <div className={styles['page']}>
      <header className={styles['top']}>
        <Link to="/dashboard/reference" search={{}} className={styles['brand']}>
          Sluice API
        </Link>
        <ButtonLink to="/dashboard">{texts.toDashboard}</ButtonLink>
      </header>
      <Operations operations={data?.operations ?? []} />
      <main className={styles['main']}>
        <ErrorBox error={error} onRetry={() => void refetch()} />
        {isPending && <Loading lines={8} />}
        {data !== undefined && <Opened description={data} opened={opened} />}
      </main>
    </div>
  )
}

function Opened({ description, opened }: { description: Description; opened: Operation | undefined }) {
  const heading = useRef<HTMLDivElement>(null)
  const isFirst = useRef(true)
  // Move the focus to the operation that the reader opens, except when the page loads.
  useEffect(() => {
    if (!isFirst.current) heading.current?.querySelector('h1')?.focus()
    isFirst.current = false
  }, [opened?.operationId])
  return (
    <div ref={heading}>
      {opened === undefined ? (
        <Overview description={description} />
      ) : (
        <OperationView key={opened.operationId} operation={opened} schemas={description.schemas} />
      )}
    </div>
  )
}

function Operations({ operations }: { operations: Operation[] }) {
  const texts = textsOf('reference')
  const [wanted, setWanted] = useState('')
  const matching = operations.filter((one) =>
    `${one.method} ${one.path} ${one.summary}`.toLowerCase().includes(wanted.trim().toLowerCase()),
  )
  const tags = [...new Set(matching.flatMap(({ tags: [tag = ''] }) => tag))]
  return (
    <nav aria-label={texts.operations} className={styles['nav']} tabIndex={0}>
      <TextField
        name="wanted"
        label={texts.find}
        isLabelHidden
        placeholder={texts.find}
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      {operations.length > 0 && tags.length === 0 && <p className="muted small">{texts.nothing}</p>}
      {tags.map((tag) => (
        <section key={tag} aria-label={tag}>
          <h2 className="muted small">{tag}</h2>
          <ul>
            {matching
              .filter(({ tags: [first] }) => first === tag)
              .map(({ operationId, method, summary }) => (
                <li key={operationId}>
                  <Link
                    to="/dashboard/reference"
                    search={{ operation: operationId }}
                    className={styles['link']}
                    activeProps={{ 'aria-current': 'page' }}
                    activeOptions={{ includeSearch: true, exact: true }}
                  >
                    <Method name={method} />
                    <span lang="en">{summary}</span>
                  </Link>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

/** Values of the variables in the examples. */
const VARIABLES = (): string => `BASE=${location.origin}\nKEY=sk_live_…`

function Overview({ description: { info, errors } }: { description: Description }) {
  const texts = textsOf('reference')
  return (
    <article className="stack">
      <h1 tabIndex={-1}>{texts.title}</h1>
      <p lang="en" dir="ltr">
        <Prose text={info.description} />
      </p>
      <p>
        {texts.forPrograms}{' '}
        <a href="/openapi.json" dir="ltr">
          /openapi.json
        </a>{' '}
        <span className="muted">({info.version})</span>
      </p>
      <Code text={VARIABLES()} label={texts.variables} />
      <h2>{texts.errors}</h2>
      <p className="muted">{texts.errorsIntro}</p>
      <Rows
        label={texts.errors}
        heads={[texts.status, texts.code, texts.message]}
        rows={errors.map(({ code, status, message }) => [
          String(status),
          <code key="code">{code}</code>,
          <Prose key="message" text={message} />,
        ])}
      />
    </article>
  )
}
