import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { api, take } from '../../../client.ts'
import { formatNumber } from '../../../format.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { CheckboxField } from '../../../parts/form/field.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { Share } from '../../../parts/value/share.tsx'
import { type Column, Table } from '../../../parts/list/table.tsx'
import { useOptimistic } from '../../../parts/action/use-optimistic.ts'
import { Time } from '../../../parts/value/values.tsx'
import { useBusiness } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { FieldDialog } from './field-dialog.tsx'
import { type CustomField, type FieldUse, type Listed, fieldsQuery } from './queries.ts'
import type { FieldSearch } from './search.ts'

export function CustomFieldsPage() {
  const texts = textsOf('custom-fields')
  const { id: businessId } = useBusiness()
  const search: FieldSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const { data, error, isPending, refetch } = useQuery(fieldsQuery(businessId))
  const show = (change: { field?: string | undefined; hidden?: true | undefined }) =>
    void navigate({ to: '.', search: { ...search, ...change }, replace: true })
  const { shown: listed, change, refused } = useHiding(businessId, data)
  const fields = listed?.customFields ?? []
  const shown = fields.filter(({ isHidden }) => search.hidden || !isHidden)
  const opened = fields.find(({ key }) => key === search.field)
  const use = data?.use ?? null
  return (
    <Page title={texts.title} intro={use === null ? texts.intro : describeUse(use)}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      <ErrorBox error={refused.findLast((one) => one.change.key !== opened?.key)?.error ?? null} />
      {fields.some(({ isHidden }) => isHidden) && (
        <CheckboxField
          name="hidden"
          label={texts.showHidden}
          checked={search.hidden ?? false}
          onChange={(event) => show({ hidden: event.target.checked || undefined })}
        />
      )}
      <Table
        label={texts.title}
        columns={columnsOf(use)}
        rows={shown}
        keyOf={({ key }) => key}
        onOpen={({ key }) => show({ field: key })}
        isLoading={isPending}
        empty={
          <Empty icon="fields" title={fields.length > 0 ? texts.allHidden : texts.emptyTitle}>
            {fields.length === 0 && texts.empty}
          </Empty>
        }
      />
      {opened !== undefined && (
        <FieldDialog
          businessId={businessId}
          field={opened}
          onHide={(isHidden) => change({ key: opened.key, isHidden })}
          refused={refused.findLast((one) => one.change.key === opened.key)?.error ?? null}
          onClose={() => show({ field: undefined })}
        />
      )}
    </Page>
  )
}

function useHiding(businessId: string, read: Listed | undefined) {
  const params = { path: { businessId } }
  return useOptimistic(read, {
    queryKey: fieldsQuery(businessId).queryKey,
    send: (body: Pick<CustomField, 'key' | 'isHidden'>) =>
      take(api.PATCH('/dashboard/api/b/{businessId}/custom-fields', { params, body })),
    show: (before, { key, isHidden }) => ({
      ...before,
      customFields: before.customFields.map((field) => (field.key === key ? { ...field, isHidden } : field)),
    }),
  })
}

function describeUse({ contacts, isSampled }: NonNullable<FieldUse>): string {
  const texts = textsOf('custom-fields')
  return isSampled ? texts.ofSample(formatNumber(contacts)) : texts.ofAll(formatNumber(contacts))
}

function columnsOf(use: FieldUse): Column<CustomField>[] {
  const texts = textsOf('custom-fields')
  return [
    {
      key: 'key',
      header: texts.field,
      width: 'minmax(120px, 2fr)',
      cell: ({ key, isHidden }) => (
        <>
          <bdi className="foreign">{key}</bdi> {isHidden && <Badge>{texts.hidden}</Badge>}
        </>
      ),
    },
    { key: 'type', header: texts.type, width: '100px', cell: ({ type }) => <Badge>{texts.types[type]}</Badge> },
    {
      key: 'filled',
      header: texts.filled,
      width: 'minmax(110px, 1fr)',
      cell: ({ filled }) =>
        filled === null || use === null || use.contacts === 0 ? (
          <span className="muted">–</span>
        ) : (
          <Share share={filled / use.contacts} />
        ),
    },
    {
      key: 'created',
      header: texts.firstSeen,
      width: '130px',
      isSecondary: true,
      cell: ({ createdAt }) => <Time at={createdAt} as="day" />,
    },
    {
      key: 'description',
      header: texts.description,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: ({ description }) => <bdi className="foreign muted">{description}</bdi>,
    },
  ]
}
