/** One destination: its settings, a test, and its removal. */
import { DialogForm } from '../../parts/overlay/form-dialog.tsx'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../client.ts'
import { Button } from '../../parts/action/button.tsx'
import { Code } from '../../parts/value/code.tsx'
import { Confirm } from '../../parts/overlay/confirm.tsx'
import { Dialog } from '../../parts/overlay/dialog.tsx'
import { ErrorBox } from '../../parts/feedback/error-box.tsx'
import { CheckboxField } from '../../parts/form/field.tsx'
import { Section } from '../../parts/page/page.tsx'
import { showToast } from '../../parts/feedback/toast.tsx'
import { useForm } from '../../parts/form/use-form.ts'
import { useCan } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { DestinationFields } from './destination-fields.tsx'
import { changeFrom, unshown } from './destination-values.ts'
import { type Destination, destinationsQuery } from './queries.ts'
import { ShownSigningKey } from './shown-signing-key.tsx'

interface DestinationProps {
  businessId: string
  destination: Destination
  onClose: () => void
}

export function DestinationDialog({ businessId, destination, onClose }: DestinationProps) {
  const texts = textsOf('deliveries')
  const canChange = useCan('destinations:write')
  const [isRemoving, setRemoving] = useState(false)
  const [signingKey, setSigningKey] = useState<string | null>(null)
  const common = { businessId, destination, onClose }
  if (signingKey !== null) return <ShownSigningKey signingKey={signingKey} onClose={onClose} />
  if (isRemoving) return <Remove {...common} />
  return (
    <Dialog title={destination.name} onClose={onClose}>
      {canChange ? (
        <div className="stack">
          <ChangeForm {...common} onKey={setSigningKey} />
          <Test businessId={businessId} destination={destination} />
          <div>
            <Button kind="danger" icon="trash" onClick={() => setRemoving(true)}>
              {texts.remove}
            </Button>
          </div>
        </div>
      ) : (
        <p className="muted">{texts.ownersChange}</p>
      )}
    </Dialog>
  )
}

function ChangeForm({ businessId, destination, onClose, onKey }: DestinationProps & { onKey: (key: string) => void }) {
  const texts = textsOf('deliveries')
  const shell = textsOf('shell')
  const client = useQueryClient()
  const { id, kind, name, types, active } = destination
  const settings = destination.settings ?? {}
  const others = unshown(kind, settings)
  const form = useForm(async (values) => {
    const body = changeFrom(destination, values)
    if (Object.keys(body).length === 0) return onClose()
    const params = { path: { businessId, destinationId: id } }
    const { signingKey } = await take(
      api.PATCH('/dashboard/api/b/{businessId}/destinations/{destinationId}', { params, body }),
    )
    if (signingKey !== null) onKey(signingKey)
    await client.invalidateQueries(destinationsQuery(businessId))
    if (signingKey !== null) return
    showToast(shell.saved)
    onClose()
  })
  return (
    <DialogForm form={form} onClose={onClose}>
      <DestinationFields form={form} kind={kind} name={name} types={types} settings={settings} isNew={false} />
      {kind === 'webhook' && (
        <CheckboxField
          name="newSigningKey"
          label={texts.newSigningKey}
          hint={texts.newSigningKeyHint}
          error={form.issueOf('newSigningKey')}
        />
      )}
      <CheckboxField name="active" label={texts.isActive} hint={texts.activeHint} defaultChecked={active} />
      {Object.keys(others).length > 0 && <Code text={JSON.stringify(others, null, 2)} label={texts.serverSettings} />}
    </DialogForm>
  )
}

function Test({ businessId, destination: { id, kind } }: Omit<DestinationProps, 'onClose'>) {
  const texts = textsOf('deliveries')
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => {
      const params = { path: { businessId, destinationId: id } }
      return take(api.POST('/dashboard/api/b/{businessId}/destinations/{destinationId}/test', { params }))
    },
  })
  return (
    <Section title={texts.test} intro={texts.testHints[kind]}>
      <div className="stack">
        <div>
          <Button icon="send" isPending={isPending} onClick={() => mutate()}>
            {texts.sendTest}
          </Button>
        </div>
        <ErrorBox error={error} />
        <p role="status">
          {data !== undefined && (data.reason === null ? texts.testAccepted : texts.testRefused(data.reason))}
        </p>
      </div>
    </Section>
  )
}

function Remove({ businessId, destination: { id, name }, onClose }: DestinationProps) {
  const texts = textsOf('deliveries')
  const client = useQueryClient()
  async function remove() {
    const params = { path: { businessId, destinationId: id } }
    const step = () => take(api.DELETE('/dashboard/api/b/{businessId}/destinations/{destinationId}', { params }))
    // One request removes as much as it can within a few seconds.
    for (let isRemoved = false; !isRemoved;) ({ isRemoved } = await step())
    showToast(texts.removed)
    await client.invalidateQueries(destinationsQuery(businessId))
    await client.invalidateQueries({ queryKey: ['deliveries', businessId] })
  }
  return (
    <Confirm title={texts.removeTitle} action={texts.remove} onConfirm={remove} onClose={onClose}>
      <p>
        <bdi className="foreign">{name}</bdi>
      </p>
      <p>{texts.removeText}</p>
    </Confirm>
  )
}
