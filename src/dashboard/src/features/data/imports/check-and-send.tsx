/** Checks the whole file, shows the rows that would be rejected, and sends the file once the person confirms. */
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../../../client.ts'
import { download } from '../../../download.ts'
import { formatNumber, formatPercent } from '../../../format.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Faults } from './faults.ts'
import styles from './imports.module.css'
import { refusedFile } from './refused-file.ts'
import { type Checked, type ImportFile, type ImportRules, type Sent, checkFile, sendFile } from './run-import.ts'

interface CheckAndSendProps {
  businessId: string
  source: ImportFile
  rules: ImportRules
  onBack: () => void
}

export function CheckAndSend({ businessId, source, rules, onBack }: CheckAndSendProps) {
  const texts = textsOf('imports')
  const stop = useRef<AbortController | null>(null)
  const [share, setShare] = useState<number | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [checked, setChecked] = useState<Checked | null>(null)
  const [sent, setSent] = useState<Sent | null>(null)
  const [isDone, setDone] = useState(false)
  async function run(
    work: (run: { businessId: string; signal: AbortSignal; report: typeof setShare }) => Promise<void>,
  ) {
    const stopping = new AbortController()
    stop.current = stopping
    setShare(0)
    setError(null)
    try {
      await work({ businessId, signal: stopping.signal, report: setShare })
    } catch (failure) {
      if (!stopping.signal.aborted) setError(failure instanceof Error ? failure : new Error(String(failure)))
    }
    if (stop.current === stopping) setShare(null)
  }
  const check = () =>
    run(async (options) => {
      const found = await checkFile(source, rules, options).catch((failure: unknown) => {
        throw isUnreadable(failure) ? new ApiError('unreadable_file', texts.notText) : failure
      })
      setChecked(found)
    })
  const send = (found: Checked) =>
    run(async (options) => {
      setSent(await sendFile(source, rules, found, options, setSent))
      setDone(true)
    })
  useEffect(() => {
    void check()
    return () => stop.current?.abort()
    // Run once: the file and the rules do not change while this component is mounted.
  }, [])
  const isSending = checked !== null && share !== null
  useWarning(isSending)
  const good = checked === null ? 0 : checked.rows - checked.faultCount - checked.leftOut
  return (
    <div className="stack">
      {share !== null && (
        <div className={styles['progress']} role="status">
          <progress value={share} aria-label={isSending ? texts.sending : texts.checking} />
          <span className="numeric">
            {isSending ? texts.sending : texts.checking} {formatPercent(share)}
          </span>
          <Button onClick={() => stop.current?.abort()}>{texts.stop}</Button>
        </div>
      )}
      <ErrorBox error={error} onRetry={() => void (checked === null ? check() : send(checked))} />
      {checked !== null && sent === null && (
        <>
          <p role="status">{texts.checked(formatNumber(checked.rows), formatNumber(checked.faultCount))}</p>
          {checked.leftOut > 0 && <p>{texts.leftOutRows(formatNumber(checked.leftOut))}</p>}
          {checked.repeatedKeys > 0 && <Note>{texts.repeatedKeys(formatNumber(checked.repeatedKeys))}</Note>}
          <Refused of={checked} source={source} rules={rules} />
          {checked.events.length > 0 && (
            <Code text={JSON.stringify(checked.events, null, 2)} label={texts.firstEvents} />
          )}
        </>
      )}
      {sent !== null && <Report sent={sent} isDone={isDone} source={source} rules={rules} />}
      {share === null && (
        <div className="actions">
          {sent === null && <Button onClick={onBack}>{texts.changeMapping}</Button>}
          {checked !== null && !isDone && (
            <Button kind="primary" disabled={good === 0} onClick={() => void send(checked)}>
              {sent === null ? texts.send(formatNumber(good)) : texts.sendAgain}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

/** True when the bytes are not text, or when the file has changed since it was chosen. */
const isUnreadable = (failure: unknown): boolean =>
  failure instanceof TypeError || (failure instanceof DOMException && failure.name === 'NotReadableError')

/** Leaving the page ends the import. */
function useWarning(isActive: boolean): void {
  useEffect(() => {
    if (!isActive) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isActive])
}

interface ReportProps {
  sent: Sent
  isDone: boolean
  source: ImportFile
  rules: ImportRules
}

function Report({ sent, isDone, source, rules }: ReportProps) {
  const texts = textsOf('imports')
  const { recorded, deduped, queued, leftOut, faultCount, firstWarning, warnings, keyWarnings } = sent
  const figures: [string, number][] = [
    [texts.recorded, recorded],
    [texts.known, deduped],
    [texts.queued, queued],
    [texts.refused, faultCount],
    ...(leftOut > 0 ? [[texts.leftOut, leftOut] satisfies [string, number]] : []),
  ]
  return (
    <>
      <h3>{isDone ? texts.done : texts.soFar}</h3>
      <dl className={styles['figures']}>
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt className="muted small">{label}</dt>
            <dd className={styles['value']}>{formatNumber(value)}</dd>
          </div>
        ))}
      </dl>
      {firstWarning !== null && (
        <Note>
          {texts.warnings(formatNumber(warnings))} <span className="foreign">{firstWarning}</span>
        </Note>
      )}
      {keyWarnings > 0 && <Note>{texts.keyWarnings(formatNumber(keyWarnings))}</Note>}
      <Refused of={sent} source={source} rules={rules} />
    </>
  )
}

const SHOWN = 10

interface RefusedProps {
  of: Faults
  source: ImportFile
  rules: ImportRules
}

function Refused({ of: { faults, faultCount: count }, source, rules }: RefusedProps) {
  const texts = textsOf('imports')
  if (count === 0) return null
  const save = () => {
    const { name, text } = refusedFile(source, rules, faults)
    download(name, text)
  }
  return (
    <section className="stack" aria-label={texts.refused}>
      <ul className={styles['faults']}>
        {faults.slice(0, SHOWN).map(({ row, error }) => (
          <li key={row}>
            <span className="muted">{texts.row(formatNumber(row))}</span> <bdi className="foreign">{error}</bdi>
          </li>
        ))}
      </ul>
      {faults.length < count && <p>{texts.onlyFirst(formatNumber(faults.length), formatNumber(count))}</p>}
      <p className="muted small">{texts.mend}</p>
      <div className="row">
        <Button onClick={save}>{texts.download(formatNumber(faults.length))}</Button>
      </div>
    </section>
  )
}
