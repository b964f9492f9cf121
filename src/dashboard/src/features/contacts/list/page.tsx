import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { formatNumber } from '../../../format.ts'
import { Badge } from '../../../parts/value/badge.tsx'
import { Button } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import type { Column } from '../../../parts/list/table.tsx'
import { Money, Time } from '../../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { segmentsQuery } from '../../rules/queries.ts'
import styles from './contacts.module.css'
import { type ListedContact, contactsQuery, countQuery, filtersQuery } from '../queries.ts'
import type { ContactSearch } from '../search.ts'
import { STAGES } from '../../rules/stages.ts'
import { nameOf } from '../show-contact.ts'
import { Views } from './views.tsx'

const SEARCH_DELAY_MS = 200

export function ContactsPage() {
  const texts = textsOf('contacts')
  const { id: businessId } = useBusiness()
  const search: ContactSearch = useSearch({ strict: false })
  const filter = completeFilter(search)
  const filters = useQuery(filtersQuery(businessId))
  const navigate = useNavigate()
  const list = useInfiniteQuery(contactsQuery(businessId, filter))
  const count = useQuery(countQuery(businessId, filter))
  const contacts = list.data?.pages.flatMap((page) => page.contacts) ?? []
  const setFilter = (change: ContactSearch) => {
    void navigate({ to: '.', search: { ...search, ...change }, replace: true })
  }
  const isFiltered = Object.values(filter).some(Boolean)
  const intro = count.data && texts[count.data.kind](formatNumber(count.data.count))
  return (
    <Page title={texts.title} intro={intro ?? '\u00a0'} width="full">
      <Views businessId={businessId} views={filters.data?.views ?? []} filter={filter} />
      <Filters filter={search} fields={filters.data?.fields ?? []} onChange={setFilter} />
      <PagedTable
        list={list}
        label={texts.title}
        columns={columnsOf(businessId)}
        rows={contacts}
        keyOf={({ contactId }) => contactId}
        onOpen={({ contactId }) =>
          void navigate({ to: '/dashboard/b/$businessId/contacts/$contactId', params: { businessId, contactId } })
        }
        total={count.data?.kind === 'exact' ? count.data.count : undefined}
        empty={
          isFiltered ? (
            <Empty
              icon="search"
              title={texts.noneTitle}
              actions={<Button onClick={() => void navigate({ to: '.', search: {} })}>{texts.clear}</Button>}
            >
              {texts.none}
            </Empty>
          ) : (
            <Empty icon="people" title={texts.emptyTitle}>
              {texts.empty}
            </Empty>
          )
        }
      />
    </Page>
  )
}

/** Omits a custom field without a value: the person is about to type the value. */
function completeFilter({ field, value, ...filter }: ContactSearch): ContactSearch {
  return field === undefined || value === undefined ? filter : { ...filter, field, value }
}

interface FiltersProps {
  filter: ContactSearch
  fields: { key: string }[]
  onChange: (change: ContactSearch) => void
}

function Filters({ filter, fields, onChange }: FiltersProps) {
  const texts = textsOf('contacts')
  const canSearch = useCan('contacts:read')
  return (
    <div className={styles['filters']} role="search">
      {canSearch && (
        <Typed key="query" name="query" label={texts.search} value={filter.query ?? ''} onChange={onChange} />
      )}
      <SelectField
        name="stage"
        label={texts.stage}
        isLabelHidden
        value={filter.stage ?? ''}
        options={[
          { value: '', label: texts.anyStage },
          ...STAGES.map((stage) => ({ value: stage, label: texts.stages[stage] })),
        ]}
        onChange={(event) => onChange({ stage: STAGES.find((one) => one === event.target.value) })}
      />
      <Typed key="tag" name="tag" label={texts.tag} value={filter.tag ?? ''} onChange={onChange} />
      <SegmentField segmentId={filter.segment} onChange={onChange} />
      {canSearch && fields.length > 0 && (
        <SelectField
          name="field"
          label={texts.field}
          isLabelHidden
          value={filter.field ?? ''}
          options={[{ value: '', label: texts.anyField }, ...fields.map(({ key }) => ({ value: key, label: key }))]}
          onChange={(event) => onChange({ field: event.target.value || undefined, value: undefined })}
        />
      )}
      {canSearch && filter.field !== undefined && (
        <Typed key="value" name="value" label={texts.fieldValue} value={filter.value ?? ''} onChange={onChange} />
      )}
    </div>
  )
}

interface SegmentFieldProps {
  segmentId: string | undefined
  onChange: (change: ContactSearch) => void
}

function SegmentField({ segmentId, onChange }: SegmentFieldProps) {
  const texts = textsOf('contacts')
  const { id: businessId } = useBusiness()
  const segments = useQuery(segmentsQuery(businessId)).data?.segments ?? []
  if (segments.length === 0 && segmentId === undefined) return null
  const known = segments.map(({ segmentId: value, name }) => ({ value, label: name }))
  const isKnown = segmentId === undefined || known.some(({ value }) => value === segmentId)
  return (
    <SelectField
      name="segment"
      label={texts.segment}
      isLabelHidden
      value={segmentId ?? ''}
      options={[
        { value: '', label: texts.anySegment },
        ...(isKnown ? [] : [{ value: segmentId, label: segmentId }]),
        ...known,
      ]}
      onChange={(event) => onChange({ segment: event.target.value || undefined })}
    />
  )
}

/** A text field that filters shortly after the last keystroke. */
function Typed(props: {
  name: 'query' | 'tag' | 'value'
  label: string
  value: string
  onChange: (change: ContactSearch) => void
}) {
  const { name, label, value, onChange } = props
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => onChange({ [name]: typed.trim() }), SEARCH_DELAY_MS)
    return () => clearTimeout(timer)
  })
  return (
    <TextField
      name={name}
      type="search"
      label={label}
      isLabelHidden
      placeholder={label}
      value={typed}
      maxLength={name === 'tag' ? 64 : 256}
      onChange={(event) => setTyped(event.target.value)}
    />
  )
}

function columnsOf(businessId: string): Column<ListedContact>[] {
  const texts = textsOf('contacts')
  return [
    {
      key: 'name',
      header: texts.name,
      width: 'minmax(90px, 2fr)',
      cell: (contact) => (
        <Link
          to="/dashboard/b/$businessId/contacts/$contactId"
          params={{ businessId, contactId: contact.contactId }}
          tabIndex={-1}
          className="foreign"
        >
          {nameOf(contact) ?? texts.unnamed}
        </Link>
      ),
    },
    {
      key: 'address',
      header: texts.address,
      width: 'minmax(150px, 2fr)',
      isSecondary: true,
      cell: ({ identities }) => (
        <bdi className="foreign">{identities.email[0] ?? identities.phone[0] ?? identities.platformCustomerId[0]}</bdi>
      ),
    },
    { key: 'stage', header: texts.stage, width: '140px', cell: ({ stage }) => <Badge>{texts.stages[stage]}</Badge> },
    {
      key: 'tags',
      header: texts.tags,
      width: 'minmax(90px, 2fr)',
      isSecondary: true,
      cell: ({ tags }) => <bdi className="foreign">{tags.join(', ')}</bdi>,
    },
    {
      key: 'revenue',
      header: texts.revenue,
      width: 'minmax(84px, 120px)',
      align: 'end',
      cell: ({ revenue: { byCurrency } }) =>
        Object.entries(byCurrency).map(([currency, amount]) => (
          <Money key={currency} amount={amount} currency={currency} />
        )),
    },
    {
      key: 'created',
      header: texts.created,
      width: '130px',
      align: 'end',
      isSecondary: true,
      cell: ({ createdAt }) => <Time at={createdAt} as="day" />,
    },
  ]
}
