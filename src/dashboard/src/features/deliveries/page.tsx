import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../client.ts'
import { formatNumber } from '../../format.ts'
import { Button } from '../../parts/action/button.tsx'
import { Confirm } from '../../parts/overlay/confirm.tsx'
import { Empty } from '../../parts/feedback/empty.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { SelectField } from '../../parts/form/field.tsx'
import { Page, Section } from '../../parts/page/page.tsx'
import { PagedTable } from '../../parts/list/paged-table.tsx'
import { type Column, TIME_WIDTH } from '../../parts/list/table.tsx'
import { showToast } from '../../parts/feedback/toast.tsx'
import { Num, Time } from '../../parts/value/values.tsx'
import { useBusiness, useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import styles from './deliveries.module.css'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { Destinations } from './destinations.tsx'
import { type Delivery, type Destination, deliveriesQuery, destinationsQuery } from './queries.ts'
import { type DeliverySearch, STATES, type State } from './search.ts'
import { StateBadge } from './state-badge.tsx'

export function DeliveriesPage() {
  const texts = textsOf('deliveries')
  const { id: businessId } = useBusiness()
  const { data, error, isPending, refetch } = useQuery(destinationsQuery(businessId))
  const destinations = data?.destinations ?? []
  return (
    <Page title={texts.title} intro={texts.intro}>
      <ErrorBox error={error} onRetry={() => void refetch()} />
      <Destinations
        businessId={businessId}
        destinations={destinations}
        hasSecretsKey={data?.hasSecretsKey ?? true}
        isLoading={isPending}
      />
      <Deliveries businessId={businessId} destinations={destinations} />
    </Page>
  )
}

function Deliveries({ businessId, destinations }: { businessId: string; destinations: Destination[] }) {
  const texts = textsOf('deliveries')
  const canRetry = useCan('destinations:write')
  const search: DeliverySearch = useSearch({ strict: false })
  const list = useInfiniteQuery(deliveriesQuery(businessId, search))
  const [openedId, setOpenedId] = useState<string | null>(null)
  const [isRetrying, setRetrying] = useState(false)
  const rows = list.data?.pages.flatMap(({ deliveries }) => deliveries) ?? []
  const opened = rows.find(({ id }) => id === openedId)
  const retry = <Button onClick={() => setRetrying(true)}>{texts.retryAll}</Button>
  return (
    <Section title={texts.deliveries} actions={canRetry && retry}>
      <Filters search={search} destinations={destinations} />
      <PagedTable
        list={list}
        label={texts.deliveries}
        columns={columnsOf()}
        rows={rows}
        keyOf={({ id }) => id}
        onOpen={({ id }) => setOpenedId(id)}
        empty={
          <Empty icon="send" title={Object.keys(search).length > 0 ? texts.noMatch : texts.none}>
            {Object.keys(search).length === 0 && texts.noneText}
          </Empty>
        }
      />
      {opened !== undefined && (
        <DeliveryDialog businessId={businessId} delivery={opened} onClose={() => setOpenedId(null)} />
      )}
      {isRetrying && <RetryAll businessId={businessId} search={search} onClose={() => setRetrying(false)} />}
    </Section>
  )
}

function Filters({ search, destinations }: { search: DeliverySearch; destinations: Destination[] }) {
  const texts = textsOf('deliveries')
  const navigate = useNavigate()
  const show = (change: Record<keyof DeliverySearch, string | undefined>) =>
    void navigate({ to: '.', search: change, replace: true })
  const { state, destination } = search
  return (
    <search className={styles['filters']}>
      <SelectField
        name="state"
        label={texts.state}
        value={state ?? ''}
        options={[
          { value: '', label: texts.anyState },
          ...STATES.map((value: State) => ({ value, label: texts.states[value] })),
        ]}
        onChange={(event) => show({ state: event.target.value || undefined, destination })}
      />
      <SelectField
        name="destination"
        label={texts.destination}
        value={destination ?? ''}
        options={[
          { value: '', label: texts.anyDestination },
          ...destinations.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(event) => show({ state, destination: event.target.value || undefined })}
      />
    </search>
  )
}

interface RetryAllProps {
  businessId: string
  search: DeliverySearch
  onClose: () => void
}

function RetryAll({ businessId, search: { destination }, onClose }: RetryAllProps) {
  const texts = textsOf('deliveries')
  const client = useQueryClient()
  async function retry() {
    const params = { path: { businessId } }
    const body = { all: true, ...(destination && { destinationId: destination }) }
    const { retried } = await take(api.POST('/dashboard/api/b/{businessId}/deliveries/retry', { params, body }))
    showToast(texts.retried(formatNumber(retried)))
    await client.invalidateQueries({ queryKey: ['deliveries', businessId] })
  }
  return (
    <Confirm title={texts.retryAll} action={texts.retryAll} onConfirm={retry} onClose={onClose}>
      {destination === undefined ? texts.retryAllText : texts.retryAllOfOne}
    </Confirm>
  )
}

function columnsOf(): Column<Delivery>[] {
  const texts = textsOf('deliveries')
  return [
    {
      key: 'created',
      header: texts.createdAt,
      width: TIME_WIDTH,
      isWrapped: true,
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
    { key: 'state', header: texts.state, width: '110px', cell: ({ state }) => <StateBadge state={state} /> },
    {
      key: 'event',
      header: texts.event,
      width: 'minmax(100px, 1fr)',
      cell: ({ event }) => <bdi className="foreign">{event}</bdi>,
    },
    {
      key: 'destination',
      header: texts.destination,
      width: 'minmax(100px, 1fr)',
      isSecondary: true,
      cell: ({ destinationName }) => <bdi className="foreign">{destinationName}</bdi>,
    },
    {
      key: 'attempts',
      header: texts.attempts,
      width: '90px',
      align: 'end',
      isSecondary: true,
      cell: ({ attempts }) => <Num value={attempts} />,
    },
    {
      key: 'reason',
      header: texts.reason,
      width: 'minmax(120px, 2fr)',
      isSecondary: true,
      cell: ({ lastReason }) => <bdi className="foreign muted">{lastReason}</bdi>,
    },
  ]
}
