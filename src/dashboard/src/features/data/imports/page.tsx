import { useEffect, useRef, useState } from 'react'
import { ApiError, api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Page, Section } from '../../../parts/page/page.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { CheckAndSend } from './check-and-send.tsx'
import styles from './imports.module.css'
import { MappingForm } from './mapping-form.tsx'
import { type Format, type ImportFile, type ImportRules, MAX_FILE_BYTES, readStart } from './run-import.ts'

/** Imports a file in steps: choose it, map its columns, check it, send it. */
export function ImportsPage() {
  const texts = textsOf('imports')
  const { id: businessId } = useBusiness()
  const canImport = useCan('imports:write')
  const [source, setSource] = useState<ImportFile | null>(null)
  const [rules, setRules] = useState<ImportRules | null>(null)
  const begin = (file: ImportFile | null) => {
    setSource(file)
    setRules(null)
  }
  if (!canImport) {
    return (
      <Page title={texts.title}>
        <Empty icon="lock" title={texts.onlyOwners} />
      </Page>
    )
  }
  return (
    <Page title={texts.title} intro={texts.intro}>
      {source === null ? (
        <ChooseFile businessId={businessId} onChoose={begin} />
      ) : (
        <Section
          title={source.file.name}
          actions={
            <Button kind="quiet" onClick={() => begin(null)}>
              {texts.otherFile}
            </Button>
          }
        >
          {rules === null ? (
            <MappingForm source={source} onMapped={setRules} />
          ) : (
            <CheckAndSend businessId={businessId} source={source} rules={rules} onBack={() => setRules(null)} />
          )}
        </Section>
      )}
    </Page>
  )
}

const DELIMITERS = [',', ';', '\t', '|'] as const

function ChooseFile({ businessId, onChoose }: { businessId: string; onChoose: (source: ImportFile) => void }) {
  const texts = textsOf('imports')
  const input = useRef<HTMLInputElement>(null)
  const [file, setFile] = useState<File | null>(null)
  const [format, setFormat] = useState<Format>('csv')
  const [delimiter, setDelimiter] = useState<string>(',')
  useEffect(() => input.current?.focus(), [])
  const choose = async (chosen: File | null) => {
    setFile(chosen)
    if (chosen === null) return
    setFormat(/\.(ndjson|jsonl|json)$/i.test(chosen.name) ? 'ndjson' : 'csv')
    // An unreadable file causes an error later, when it is sent.
    const { delimiter: named, records } = await readStart(chosen).catch(() => ({ delimiter: null, records: [] }))
    const [header = ''] = records
    const guessed = DELIMITERS.toSorted((a, b) => header.split(b).length - header.split(a).length)[0] ?? ','
    setDelimiter(DELIMITERS.find((one) => one === named) ?? guessed)
  }
  const form = useForm(async () => {
    if (file === null) return
    if (file.size > MAX_FILE_BYTES) throw new ApiError('unreadable_file', texts.tooLarge)
    if (format === 'ndjson') return onChoose({ file, format, delimiter, columns: [], samples: [] })
    const { records } = await readStart(file).catch((error: unknown) => {
      throw error instanceof ApiError ? error : new ApiError('unreadable_file', texts.notText)
    })
    const params = { path: { businessId } }
    const { columns, samples } = await take(
      api.POST('/dashboard/api/b/{businessId}/imports/columns', {
        params,
        body: { text: records.join(''), delimiter },
      }),
    )
    onChoose({ file, format, delimiter, columns, samples })
  })
  return (
    <Section title={texts.file}>
      <form {...form.props} className="stack">
        <label className={styles['file']}>
          <span>{texts.choose}</span>
          <input
            ref={input}
            type="file"
            name="file"
            required
            accept=".csv,.tsv,.txt,.ndjson,.jsonl"
            onChange={(event) => void choose(event.target.files?.[0] ?? null)}
          />
        </label>
        <div className={styles['two']}>
          <SelectField
            name="format"
            label={texts.format}
            value={format}
            options={[
              { value: 'csv', label: 'CSV' },
              { value: 'ndjson', label: 'NDJSON' },
            ]}
            onChange={(event) => setFormat(event.target.value === 'ndjson' ? 'ndjson' : 'csv')}
          />
          {format === 'csv' && (
            <SelectField
              name="delimiter"
              label={texts.delimiter}
              value={delimiter}
              options={DELIMITERS.map((value) => ({ value, label: texts.delimiters[value] }))}
              onChange={(event) => setDelimiter(event.target.value)}
            />
          )}
        </div>
        <ErrorBox error={form.error} />
        <div className="actions">
          <Button kind="primary" type="submit" isPending={form.isPending}>
            {texts.next}
          </Button>
        </div>
      </form>
    </Section>
  )
}
