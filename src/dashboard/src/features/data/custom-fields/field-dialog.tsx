/** One custom field: its content, and the description that people have given it. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, take } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { ErrorBox, describeError } from '../../../parts/feedback/error-box.tsx'
import { CheckboxField, TextAreaField } from '../../../parts/form/field.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { Share } from '../../../parts/value/share.tsx'
import { showToast } from '../../../parts/feedback/toast.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { Num, Time } from '../../../parts/value/values.tsx'
import { useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import styles from './custom-fields.module.css'
import { type CustomField, fieldsQuery } from './queries.ts'
import { fieldValuesQuery } from '../../rules/queries.ts'

interface FieldDialogProps {
  businessId: string
  field: CustomField
  onHide: (isHidden: boolean) => void
  /** Error of the last attempt to hide the field or to show it again. */
  refused: Error | null
  onClose: () => void
}

export function FieldDialog({ businessId, field, onHide, refused, onClose }: FieldDialogProps) {
  const texts = textsOf('custom-fields')
  const canSee = useCan('contacts:read')
  const canChange = useCan('audience:write')
  return (
    <Dialog title={field.key} size="wide" onClose={onClose}>
      <div className="stack">
        <p className="row">
          <Badge>{texts.types[field.type]}</Badge>
          <Time at={field.createdAt} />
        </p>
        {!canChange && field.description !== '' && <p className="foreign">{field.description}</p>}
        {canChange && <Describe businessId={businessId} field={field} onClose={onClose} />}
        {canChange && (
          <CheckboxField
            name="isHidden"
            label={texts.hide}
            hint={texts.hideHint}
            checked={field.isHidden}
            error={refused === null ? undefined : describeError(refused)}
            onChange={(event) => onHide(event.target.checked)}
          />
        )}
        {canSee && <Values businessId={businessId} field={field} />}
      </div>
    </Dialog>
  )
}

function Describe({ businessId, field, onClose }: Pick<FieldDialogProps, 'businessId' | 'field' | 'onClose'>) {
  const texts = textsOf('custom-fields')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const form = useForm(async ({ description = '' }) => {
    const body = { key: field.key, description }
    await take(api.PATCH('/dashboard/api/b/{businessId}/custom-fields', { params: { path: { businessId } }, body }))
    await client.invalidateQueries({ ...fieldsQuery(businessId), exact: true })
    showToast(shell.saved)
    onClose()
  })
  return (
    <form {...form.props} className="stack">
      <TextAreaField
        name="description"
        label={texts.description}
        defaultValue={field.description}
        maxLength={500}
        dir="auto"
        error={form.issueOf('description')}
      />
      <ErrorBox error={form.error} />
      <div className="actions">
        <Button kind="primary" type="submit" isPending={form.isPending}>
          {shell.save}
        </Button>
      </div>
    </form>
  )
}

function Values({ businessId, field }: { businessId: string; field: CustomField }) {
  const texts = textsOf('custom-fields')
  const { data, error, isPending, refetch } = useQuery(fieldValuesQuery(businessId, field.key))
  if (isPending) return <Loading lines={6} />
  if (data === undefined) return <ErrorBox error={error} onRetry={() => void refetch()} />
  const { contacts, filled, distinct, top, quantiles, range } = data
  if (filled === 0) return <p className="muted">{texts.noValues}</p>
  return (
    <section className="stack" aria-label={texts.values}>
      <p className="muted">
        {texts.filledBy(formatNumber(filled), formatNumber(contacts))} {texts.distinct(formatNumber(distinct))}
      </p>
      {quantiles !== null && (
        <dl className={styles['spread']}>
          {texts.quantiles.map((name, index) => (
            <div key={name}>
              <dt className="muted small">{name}</dt>
              <dd>
                <Num value={quantiles[index] ?? 0} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {range !== null && (
        <p>
          <Time at={range.from} /> – <Time at={range.to} />
        </p>
      )}
      <h3>{texts.top}</h3>
      <ul className={styles['top']}>
        {top.map(({ value, count }) => (
          <li key={value}>
            <bdi className="foreign">{value}</bdi>
            <Num value={count} />
            <Share share={count / filled} />
          </li>
        ))}
      </ul>
    </section>
  )
}
