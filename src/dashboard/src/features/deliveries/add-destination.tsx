import { DialogForm } from '../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../client.ts'
import { Dialog } from '../../parts/overlay/dialog.tsx'
import { SelectField } from '../../parts/form/field.tsx'
import { Note } from '../../parts/feedback/note.tsx'
import { showToast } from '../../parts/feedback/toast.tsx'
import { useForm } from '../../parts/form/use-form.ts'
import { useRemedy } from '../../session/session.ts'
import { textsOf } from '../../texts/index.ts'
import { DestinationFields } from './destination-fields.tsx'
import { KINDS, type Kind, TYPES, newFrom } from './destination-values.ts'
import { destinationsQuery } from './queries.ts'
import { ShownSigningKey } from './shown-signing-key.tsx'

interface AddDestinationProps {
  businessId: string
  hasSecretsKey: boolean
  onClose: () => void
}

export function AddDestination({ businessId, hasSecretsKey, onClose }: AddDestinationProps) {
  const texts = textsOf('deliveries')
  const remedy = useRemedy(texts.noSecretsKey.remedies)
  const [signingKey, setSigningKey] = useState<string | null>(null)
  if (signingKey !== null) return <ShownSigningKey signingKey={signingKey} onClose={onClose} />
  return (
    <Dialog title={texts.addDestination} onClose={onClose}>
      {hasSecretsKey ? (
        <AddForm businessId={businessId} onKey={setSigningKey} onClose={onClose} />
      ) : (
        <Note>
          {texts.noSecretsKey.text} {remedy}
        </Note>
      )}
    </Dialog>
  )
}

interface AddFormProps {
  businessId: string
  /** Called with a new key, which is shown once. */
  onKey: (signingKey: string) => void
  onClose: () => void
}

function AddForm({ businessId, onKey, onClose }: AddFormProps) {
  const texts = textsOf('deliveries')
  const client = useQueryClient()
  const [kind, setKind] = useState<Kind>('meta')
  const form = useForm(async (values) => {
    const params = { path: { businessId } }
    const body = newFrom(kind, values)
    const { signingKey } = await take(api.POST('/dashboard/api/b/{businessId}/destinations', { params, body }))
    if (signingKey !== null) onKey(signingKey)
    await client.invalidateQueries(destinationsQuery(businessId))
    if (signingKey !== null) return
    showToast(texts.added)
    onClose()
  })
  return (
    <DialogForm form={form} action={texts.add} onClose={onClose}>
      <SelectField
        name="kind"
        label={texts.kind}
        value={kind}
        options={KINDS.map((value) => ({ value, label: texts.kinds[value] }))}
        onChange={(event) => {
          form.reset()
          setKind(event.target.value as Kind)
        }}
      />
      <DestinationFields
        key={kind}
        form={form}
        kind={kind}
        name={texts.kinds[kind]}
        types={TYPES}
        settings={{}}
        isNew
      />
    </DialogForm>
  )
}
