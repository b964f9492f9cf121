/** The destinations of conversions. */
import { useState } from 'react'
import { Badge } from '../../parts/value/badge.tsx'
import { Button } from '../../parts/action/button.tsx'
import { Empty } from '../../parts/feedback/empty.tsx'
import { Section } from '../../parts/page/page.tsx'
import { type Column, Table } from '../../parts/list/table.tsx'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { AddDestination } from './add-destination.tsx'
import { DestinationDialog } from './destination-dialog.tsx'
import type { Destination } from './queries.ts'

interface DestinationsProps {
  businessId: string
  destinations: Destination[]
  hasSecretsKey: boolean
  isLoading: boolean
}

export function Destinations({ businessId, destinations, hasSecretsKey, isLoading }: DestinationsProps) {
  const texts = textsOf('deliveries')
  const canChange = useCan('destinations:write')
  const [openedId, setOpenedId] = useState<string | null>(null)
  const [isAdding, setAdding] = useState(false)
  const opened = destinations.find(({ id }) => id === openedId)
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {texts.addDestination}
    </Button>
  )
  return (
    <Section title={texts.destinations} actions={canChange && add}>
      <Table
        label={texts.destinations}
        columns={columnsOf()}
        rows={destinations}
        keyOf={({ id }) => id}
        onOpen={({ id }) => setOpenedId(id)}
        isLoading={isLoading}
        waitingRows={4}
        height="auto"
        empty={
          <Empty icon="send" title={texts.noDestinations}>
            {texts.noDestinationsText}
          </Empty>
        }
      />
      {opened !== undefined && (
        <DestinationDialog businessId={businessId} destination={opened} onClose={() => setOpenedId(null)} />
      )}
      {isAdding && (
        <AddDestination businessId={businessId} hasSecretsKey={hasSecretsKey} onClose={() => setAdding(false)} />
      )}
    </Section>
  )
}

function columnsOf(): Column<Destination>[] {
  const texts = textsOf('deliveries')
  return [
    {
      key: 'name',
      header: texts.name,
      width: 'minmax(110px, 2fr)',
      cell: ({ name }) => <bdi className="foreign">{name}</bdi>,
    },
    { key: 'kind', header: texts.kind, width: '110px', cell: ({ kind }) => <Badge>{texts.kinds[kind]}</Badge> },
    {
      key: 'types',
      header: texts.types,
      width: 'minmax(120px, 1fr)',
      isSecondary: true,
      cell: ({ types }) => types.map((type) => texts.typeNames[type]).join(', '),
    },
    {
      key: 'active',
      header: texts.state,
      width: '110px',
      cell: ({ active }) => <Badge kind={active ? 'good' : 'warn'}>{active ? texts.active : texts.paused}</Badge>,
    },
  ]
}
