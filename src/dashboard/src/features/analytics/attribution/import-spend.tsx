/** Imports spend from a CSV file: choose it, preview it, save it. */
import { FormActions } from '../../../parts/form/form-actions.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, api, take } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { sayRows } from '../../../translate-error.ts'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { readText } from '../../data/links.ts'
import styles from './attribution.module.css'
import { FilePreview } from './file-preview.tsx'
import { type SpendFile, attributionKey } from './queries.ts'

const MAX_BYTES = 4 * 1024 * 1024

export function ImportSpend({ onClose }: { onClose: () => void }) {
  const texts = textsOf('attribution')
  const client = useQueryClient()
  const { id: businessId, currency: own } = useBusiness()
  const [file, setFile] = useState<File | null>(null)
  const [checked, setChecked] = useState<SpendFile | null>(null)
  const form = useForm(async ({ channel = '', source = '', currency = '' }) => {
    if (file === null) return
    const body = {
      text: await textOf(file),
      ...(channel !== '' && { channel: channel as Channel }),
      source,
      currency,
      save: checked !== null,
    }
    const params = { path: { businessId } }
    const found = await take(api.POST('/dashboard/api/b/{businessId}/analytics/spend/file', { params, body }))
    if (found.saved === null) return setChecked({ ...found, refused: await sayRows(found.refused) })
    showToast(texts.saved(formatNumber(found.saved.added), formatNumber(found.saved.changed)))
    await client.invalidateQueries({ queryKey: attributionKey(businessId) })
    onClose()
  })
  /** A new file, or new defaults for its rows, must be checked again. */
  const forget = () => {
    setChecked(null)
    form.reset()
  }
  return (
    <Dialog title={texts.importSpend} size="wide" onClose={onClose}>
      <form {...form.props} className="stack" onInput={forget}>
        <p className="muted">{texts.importIntro}</p>
        <label className={styles['file']}>
          <span>{texts.file}</span>
          <input
            type="file"
            name="file"
            required
            accept=".csv,.tsv,.txt"
            onChange={({ target }) => setFile(target.files?.[0] ?? null)}
          />
        </label>
        <fieldset className={styles['otherwise']}>
          <legend>{texts.otherwise}</legend>
          <SelectField
            name="channel"
            label={texts.fields.channel}
            options={[
              { value: '', label: texts.noChannel },
              ...CHANNELS.map((value) => ({ value, label: texts.channels[value] })),
            ]}
          />
          <TextField name="source" label={texts.fields.source} maxLength={256} dir="auto" autoComplete="off" />
          <TextField
            name="currency"
            label={texts.fields.currency}
            defaultValue={own}
            maxLength={8}
            dir="ltr"
            autoComplete="off"
          />
        </fieldset>
        <ErrorBox error={form.error} />
        {checked !== null && <FilePreview file={checked} />}
        <FormActions
          form={form}
          action={checked === null ? texts.check : texts.save(formatNumber(checked.rows))}
          isIncomplete={checked?.rows === 0}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

type Channel = (typeof CHANNELS)[number]
/** Paid channels come first. */
const CHANNELS = [
  'paid_search',
  'paid_social',
  'display',
  'affiliate',
  'paid_other',
  'email',
  'sms',
  'campaign',
  'referral',
  'organic_search',
  'organic_social',
  'direct',
] as const

async function textOf(file: File): Promise<string> {
  if (file.size > MAX_BYTES) throw new ApiError('unreadable_file', textsOf('attribution').tooLarge)
  let text = ''
  try {
    for await (const part of readText(file)) text += part
  } catch {
    throw new ApiError('unreadable_file', textsOf('imports').notText)
  }
  return text
}
