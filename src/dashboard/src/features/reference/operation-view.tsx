/** One operation: parameters, answers, and a form to call it. */
import { Fragment } from 'react'
import { Code } from '../../parts/value/code.tsx'
import { textsOf } from '../../texts/index.ts'
import { curlExample } from './curl-example.ts'
import { type Description, type Operation, type Schema, fieldsOf, formsOf, keyUseOf, namesIn } from './description.ts'
import { Method } from './method.tsx'
import { Prose } from './prose.tsx'
import styles from './reference.module.css'
import { Rows } from './rows.tsx'
import { schemaText } from './schema-text.ts'
import { TryIt } from './try-it.tsx'

export function OperationView({ operation, schemas }: { operation: Operation; schemas: Description['schemas'] }) {
  const texts = textsOf('reference')
  const { summary, description, method, path, parameters, requestBody } = operation
  const body = requestBody?.content['application/json']
  return (
    <article className="stack">
      <h1 tabIndex={-1} lang="en">
        {summary}
      </h1>
      <p className={styles['path']} dir="ltr">
        <Method name={method} /> <code>{path}</code>
      </p>
      {description !== undefined && (
        <p lang="en" dir="ltr">
          <Prose text={description} />
        </p>
      )}
      <p className="muted">{texts.keyUses[keyUseOf(operation)]}</p>
      <Code text={curlExample(operation)} label={texts.example} />
      {parameters.length > 0 && (
        <>
          <h2>{texts.parameters}</h2>
          <Rows
            label={texts.parameters}
            heads={[texts.name, texts.place, texts.value, texts.meaning]}
            rows={parameters.map(({ name, in: place, schema, description: meaning = '' }) => [
              <code key="name">{name}</code>,
              place,
              <Prose key="value" text={schemaText(schema)} />,
              <Prose key="meaning" text={meaning} />,
            ])}
          />
        </>
      )}
      {body?.schema !== undefined && (
        <>
          <h2>{texts.body}</h2>
          <Fields schema={body.schema} label={texts.body} />
          <NamedSchemas schema={body.schema} schemas={schemas} />
          {body.example !== undefined && (
            <Code text={JSON.stringify(body.example, null, 2)} label={texts.bodyExample} />
          )}
        </>
      )}
      <TryIt operation={operation} />
      <h2>{texts.answers}</h2>
      <Answers responses={operation.responses} />
    </article>
  )
}

function Fields({ schema, label }: { schema: Schema; label: string }) {
  const texts = textsOf('reference')
  return (
    <Rows
      label={label}
      heads={[texts.name, texts.value, texts.meaning]}
      rows={fieldsOf(schema).map(({ path, schema: field, isRequired }) => [
        <span key="name">
          <code>{path}</code> {isRequired && <strong className="small">{texts.required}</strong>}
        </span>,
        <Prose key="value" text={schemaText(field)} />,
        <Prose key="meaning" text={field.description ?? ''} />,
      ])}
    />
  )
}

/** The schemas that a body refers to by name, each of their forms in a table. A schema may contain itself. */
function NamedSchemas({ schema, schemas }: { schema: Schema; schemas: Description['schemas'] }) {
  return [...namesIn(schema, schemas)].map((name) => (
    <section key={name} className="stack" aria-label={name}>
      <h3>
        <code>{name}</code>
      </h3>
      {formsOf(schemas[name] ?? {}).map((form, index) => (
        <Fragment key={index}>
          <p lang="en">
            <Prose text={form.description ?? schemaText(form)} />
          </p>
          {form.properties !== undefined && <Fields schema={form} label={`${name} ${index + 1}`} />}
        </Fragment>
      ))}
    </section>
  ))
}

function Answers({ responses }: Pick<Operation, 'responses'>) {
  return Object.entries(responses).map(([status, { description, content }]) => {
    const example = content?.['application/json'].example
    return (
      <section key={status} className="stack" aria-label={status}>
        <p dir="ltr">
          <strong>{status}</strong>{' '}
          <span lang="en">
            <Prose text={description} />
          </span>
        </p>
        {example !== undefined && <Code text={JSON.stringify(example, null, 2)} label={status} />}
      </section>
    )
  })
}
