/** Where conversions are sent. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../client.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ErrorBox } from '../../parts/error-box.tsx'
import { CheckboxField, TextField } from '../../parts/field.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { showToast } from '../../parts/toast.tsx'
import { useForm } from '../../parts/use-form.ts'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { type Destination, destinationsQuery } from './queries.ts'

interface DestinationsProps {
  businessId: string
  destinations: Destination[]
  isLoading: boolean
}

export function Destinations({ businessId, destinations, isLoading }: DestinationsProps) {
  const texts = textsOf('deliveries')
  const [openedId, setOpenedId] = useState<string | null>(null)
  const opened = destinations.find(({ id }) => id === openedId)
  const command = `npm run admin -- destination add --business ${businessId} --kind webhook --set url=https://crm.example/in`
  return (
    <>
      <Table
        label={texts.destinations}
        columns={columnsOf()}
        rows={destinations}
        keyOf={({ id }) => id}
        onOpen={({ id }) => setOpenedId(id)}
        isLoading={isLoading}
        height="auto"
        empty={
          <>
            <Empty icon="send" title={texts.noDestinations} />
            <Code text={command} label={texts.addDestination} />
          </>
        }
      />
      {opened !== undefined && (
        <DestinationDialog businessId={businessId} destination={opened} onClose={() => setOpenedId(null)} />
      )}
    </>
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

interface DestinationDialogProps {
  businessId: string
  destination: Destination
  onClose: () => void
}

function DestinationDialog({ businessId, destination, onClose }: DestinationDialogProps) {
  const texts = textsOf('deliveries')
  const canChange = useCan('destinations:write')
  const { name, settings } = destination
  return (
    <Dialog title={name} onClose={onClose}>
      <div className="stack">
        {settings !== null && <Code text={JSON.stringify(settings, null, 2)} label={texts.settings} />}
        {canChange ? (
          <Change businessId={businessId} destination={destination} onClose={onClose} />
        ) : (
          <p className="muted">{texts.ownersChange}</p>
        )}
      </div>
    </Dialog>
  )
}

function Change({ businessId, destination: { id, name, active }, onClose }: DestinationDialogProps) {
  const texts = textsOf('deliveries')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const form = useForm(async ({ name: wanted = '', active: isActive }) => {
    const params = { path: { businessId, destinationId: id } }
    const body = { name: wanted, active: isActive !== undefined }
    await take(api.PATCH('/dashboard/api/b/{businessId}/destinations/{destinationId}', { params, body }))
    await client.invalidateQueries(destinationsQuery(businessId))
    showToast(shell.saved)
    onClose()
  })
  return (
    <form {...form.props} className="stack">
      <TextField
        name="name"
        label={texts.name}
        defaultValue={name}
        maxLength={200}
        required
        error={form.issueOf('name')}
      />
      <CheckboxField name="active" label={texts.isActive} hint={texts.activeHint} defaultChecked={active} />
      <p className="muted small">{texts.otherSettings}</p>
      <ErrorBox error={form.error} />
      <div className="actions">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button kind="primary" type="submit" isPending={form.isPending}>
          {shell.save}
        </Button>
      </div>
    </form>
  )
}
