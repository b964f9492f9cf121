/** Addresses that no message goes to. Only hashes are stored, so the list cannot show the addresses. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Button } from '../../../parts/action/button.tsx'
import { Empty } from '../../../parts/feedback/empty.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { PagedTable } from '../../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../../parts/list/table.tsx'
import { Time } from '../../../parts/value/values.tsx'
import { NotFound } from '../../../parts/feedback/not-found.tsx'
import { useBusiness, useCan } from '../../../session/session.ts'
import { textsOf } from '../../../texts/index.ts'
import { AddSuppressions } from './add-suppressions.tsx'
import { LiftMany } from './lift-many.tsx'
import { LiftOne } from './lift-one.tsx'
import {
  ADDRESS_CHANNELS,
  type AddressChannel,
  REASONS,
  type Reason,
  type Suppression,
  type SuppressionFilter,
  suppressionsQuery,
} from './queries.ts'
import styles from './suppressions.module.css'

export function SuppressionsPage() {
  return useCan('contacts:read') ? <Suppressions /> : <NotFound />
}

function Suppressions() {
  const texts = textsOf('suppressions')
  const { id: businessId } = useBusiness()
  const canChange = useCan('destinations:write')
  const [filter, setFilter] = useState<SuppressionFilter>({ channel: undefined, reason: undefined, address: '' })
  const [opened, setOpened] = useState<'add' | 'lift' | Suppression | null>(null)
  const list = useInfiniteQuery(suppressionsQuery(businessId, filter))
  const rows = list.data?.pages.flatMap(({ suppressions }) => suppressions) ?? []
  const isFiltered = filter.channel !== undefined || filter.reason !== undefined || filter.address !== ''
  const close = () => setOpened(null)
  const actions = (
    <>
      <Button onClick={() => setOpened('lift')}>{texts.liftMany}</Button>
      <Button kind="primary" icon="plus" onClick={() => setOpened('add')}>
        {texts.add}
      </Button>
    </>
  )
  return (
    <Page title={texts.title} intro={texts.intro} actions={canChange && actions}>
      <Filters filter={filter} onChange={setFilter} />
      <PagedTable
        list={list}
        label={texts.title}
        columns={[...columnsOf(), ...(canChange ? [liftColumn(setOpened)] : [])]}
        rows={rows}
        keyOf={({ suppressionId }) => suppressionId}
        empty={
          <Empty icon="check" title={isFiltered ? texts.noMatch : texts.emptyTitle}>
            {isFiltered ? filter.address !== '' && texts.notSuppressed : texts.empty}
          </Empty>
        }
      />
      {opened === 'add' && <AddSuppressions businessId={businessId} onClose={close} />}
      {opened === 'lift' && <LiftMany businessId={businessId} onClose={close} />}
      {typeof opened === 'object' && opened !== null && (
        <LiftOne businessId={businessId} suppression={opened} onClose={close} />
      )}
    </Page>
  )
}

interface FiltersProps {
  filter: SuppressionFilter
  onChange: (filter: SuppressionFilter) => void
}

function Filters({ filter, onChange }: FiltersProps) {
  const texts = textsOf('suppressions')
  const { channels } = textsOf('campaigns')
  const [typed, setTyped] = useState('')
  const find = (event: FormEvent) => {
    event.preventDefault()
    onChange({ ...filter, address: typed.trim() })
  }
  return (
    <search>
      <form className={styles['filters']} onSubmit={find}>
        <TextField
          name="address"
          type="search"
          label={texts.find}
          value={typed}
          dir="ltr"
          autoComplete="off"
          spellCheck={false}
          onChange={({ target: { value } }) => {
            setTyped(value)
            if (value === '') onChange({ ...filter, address: '' })
          }}
        />
        <Button type="submit" icon="search">
          {texts.findAction}
        </Button>
        <SelectField
          name="channel"
          label={texts.channel}
          value={filter.channel ?? ''}
          options={[
            { value: '', label: texts.anyChannel },
            ...ADDRESS_CHANNELS.map((value) => ({ value, label: channels[value] })),
          ]}
          onChange={({ target: { value } }) => onChange({ ...filter, channel: (value || undefined) as AddressChannel })}
        />
        <SelectField
          name="reason"
          label={texts.reason}
          value={filter.reason ?? ''}
          options={[
            { value: '', label: texts.anyReason },
            ...REASONS.map((value) => ({ value, label: texts.reasons[value] })),
          ]}
          onChange={({ target: { value } }) => onChange({ ...filter, reason: (value || undefined) as Reason })}
        />
      </form>
    </search>
  )
}

function columnsOf(): Column<Suppression>[] {
  const texts = textsOf('suppressions')
  const { channels } = textsOf('campaigns')
  return [
    { key: 'channel', header: texts.channel, width: 'minmax(90px, 1fr)', cell: ({ channel }) => channels[channel] },
    { key: 'reason', header: texts.reason, width: 'minmax(110px, 2fr)', cell: ({ reason }) => texts.reasons[reason] },
    { key: 'at', header: texts.since, width: TIME_WIDTH, isSecondary: true, cell: ({ at }) => <Time at={at} /> },
  ]
}

function liftColumn(onLift: (suppression: Suppression) => void): Column<Suppression> {
  const texts = textsOf('suppressions')
  return {
    key: 'lift',
    header: texts.lift,
    isHeaderHidden: true,
    width: '100px',
    align: 'end',
    cell: (suppression) => (
      <Button size="small" onClick={() => onLift(suppression)}>
        {texts.lift}
      </Button>
    ),
  }
}
