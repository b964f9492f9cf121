import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { SelectField, TextAreaField } from '../../../parts/form/field.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { sayRows } from '../../../translate-error.ts'
import { textsOf } from '../../../texts/index.ts'
import { ADDRESS_CHANNELS, type AddressChannel, REASONS, type Reason } from './queries.ts'
import styles from './suppressions.module.css'

interface AddProps {
  businessId: string
  onClose: () => void
}

interface Failure {
  address: string
  error: string
}

/** Most addresses that the server accepts in one request. */
const SET = 500

export function AddSuppressions({ businessId, onClose }: AddProps) {
  const texts = textsOf('suppressions')
  const { channels } = textsOf('campaigns')
  const client = useQueryClient()
  const [typed, setTyped] = useState('')
  const [failures, setFailures] = useState<Failure[]>([])
  const form = useForm(async ({ channel, reason, addresses = '' }) => {
    const lines = linesOf(addresses)
    const failed: Failure[] = []
    let added = 0
    for (let at = 0; at < lines.length; at += SET) {
      const set = lines.slice(at, at + SET)
      const suppressions = set.map((address) => ({
        channel: channel as AddressChannel,
        address,
        reason: reason as Reason,
      }))
      const params = { path: { businessId } }
      const answer = await take(
        api.POST('/dashboard/api/b/{businessId}/suppressions', { params, body: { suppressions } }),
      )
      added += answer.added + answer.known
      const said = await sayRows(
        answer.failures.map(({ issues = [], ...one }) => ({ ...one, issues: issues.map(atAddress) })),
      )
      failed.push(...said.map(({ index, error }) => ({ address: set[index] ?? '', error })))
    }
    await client.invalidateQueries({ queryKey: ['suppressions', businessId] })
    if (added > 0) showToast(texts.added(formatNumber(added)))
    if (failed.length === 0) return onClose()
    // Keep only the addresses that have to be corrected.
    setTyped(failed.map(({ address }) => address).join('\n'))
    setFailures(failed)
  })
  return (
    <FormDialog
      title={texts.add}
      form={form}
      action={texts.addAction}
      isIncomplete={linesOf(typed).length === 0}
      onClose={onClose}
    >
      <SelectField
        name="channel"
        label={texts.channel}
        options={ADDRESS_CHANNELS.map((value) => ({ value, label: channels[value] }))}
      />
      <TextAreaField
        name="addresses"
        label={texts.addresses}
        hint={texts.addressesHint}
        rows={6}
        dir="ltr"
        spellCheck={false}
        value={typed}
        error={form.issueOf('addresses')}
        onChange={(event) => setTyped(event.target.value)}
      />
      <SelectField
        name="reason"
        label={texts.reason}
        defaultValue="manual"
        options={REASONS.map((value) => ({ value, label: texts.reasons[value] }))}
      />
      {failures.length > 0 && (
        <div role="alert">
          <ul className={styles['failures']}>
            {failures.map(({ address, error }, at) => (
              <li key={at}>
                <bdi className="foreign">{address}</bdi>: {error}
              </li>
            ))}
          </ul>
        </div>
      )}
    </FormDialog>
  )
}

/** The list names the address itself. */
const atAddress = <Issue extends { path: string }>(issue: Issue): Issue =>
  issue.path === 'address' ? { ...issue, path: '' } : issue

/** A line of several addresses is split. Any other line is one of an export: the server finds the address in it. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => {
      const cells = withoutBlank(line.split(/[,;]/))
      return cells.every((cell) => cell.includes('@')) || cells.every((cell) => /^\+[\d\s()./-]+$/.test(cell))
        ? cells
        : [line]
    })
    .map((line) => line.trim())
    .filter((line) => line !== '')

const withoutBlank = (cells: string[]): string[] => cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
