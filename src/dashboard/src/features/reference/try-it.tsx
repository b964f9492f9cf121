/** Makes a real call with the reader's key, which is not stored. */
import { type SyntheticEvent, useState } from 'react'
import { formatNumber } from '../../format.ts'
import { Badge } from '../../parts/value/badge.tsx'
import { Button } from '../../parts/action/button.tsx'
import { Code } from '../../parts/value/code.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { TextAreaField, TextField } from '../../parts/form/field.tsx'
import { Note } from '../../parts/feedback/note.tsx'
import { textsOf } from '../../texts/index.ts'
import { type Operation, keyUseOf } from './description.ts'
import styles from './reference.module.css'

interface CallResult {
  status: number
  ms: number
  text: string
}

export function TryIt({ operation }: { operation: Operation }) {
  const texts = textsOf('reference')
  const { method, parameters, requestBody } = operation
  const [answer, setAnswer] = useState<CallResult | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isPending, setPending] = useState(false)
  async function send(event: SyntheticEvent<HTMLFormElement>) {
    event.preventDefault()
    const values = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>
    setPending(true)
    setError(null)
    try {
      setAnswer(await call(operation, values))
    } catch (failure) {
      setAnswer(null)
      setError(failure instanceof Error ? failure : new Error(String(failure)))
    }
    setPending(false)
  }
  const example = requestBody?.content['application/json'].example
  return (
    <section className={`card ${styles['try']}`} aria-label={texts.tryIt}>
      <h2>{texts.tryIt}</h2>
      {method !== 'get' && <Note>{texts.tryNote}</Note>}
      <form className="stack" onSubmit={(event) => void send(event)}>
        <TextField
          name="key"
          label={texts.key}
          hint={texts.keyHint}
          type="password"
          autoComplete="off"
          dir="ltr"
          maxLength={200}
          required={keyUseOf(operation) === 'required'}
        />
        {parameters.map(({ name, in: place, example: value }) => (
          <TextField
            key={name}
            name={`${place}.${name}`}
            label={name}
            defaultValue={place === 'path' ? (value ?? '') : ''}
            required={place === 'path'}
            dir="ltr"
          />
        ))}
        {requestBody !== undefined && (
          <TextAreaField
            name="body"
            label={texts.body}
            defaultValue={JSON.stringify(example ?? {}, null, 2)}
            rows={10}
            dir="ltr"
            spellCheck={false}
            className={styles['json']}
          />
        )}
        <div className="actions">
          <Button kind="primary" type="submit" isPending={isPending}>
            {texts.send}
          </Button>
        </div>
      </form>
      <ErrorBox error={error} />
      {answer !== null && (
        <div role="status" className="stack">
          <p>
            <Badge kind={answer.status < 400 ? 'good' : 'bad'}>{answer.status}</Badge>{' '}
            <span className="muted">{texts.ms(formatNumber(answer.ms))}</span>
          </p>
          <Code text={answer.text} label={texts.answer} />
        </div>
      )}
    </section>
  )
}

async function call({ method, path, parameters }: Operation, values: Record<string, string>): Promise<CallResult> {
  const read = (name: string) => (values[name] ?? '').trim()
  const headers = new Headers()
  if (read('key') !== '') headers.set('Authorization', `Bearer ${read('key')}`)
  const query = new URLSearchParams()
  let address = path
  for (const { name, in: place } of parameters) {
    const value = read(`${place}.${name}`)
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value))
    else if (value === '') continue
    else if (place === 'query') query.set(name, value)
    else headers.set(name, value)
  }
  const { body } = values
  if (body !== undefined) headers.set('Content-Type', 'application/json')
  const began = performance.now()
  const response = await fetch(query.size === 0 ? address : `${address}?${query.toString()}`, {
    method: method.toUpperCase(),
    headers,
    // The session of the dashboard must not count as a key.
    credentials: 'omit',
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  return { status: response.status, ms: Math.round(performance.now() - began), text: indent(text) }
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
