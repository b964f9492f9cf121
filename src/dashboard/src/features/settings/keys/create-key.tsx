import { Dialog } from '../../../parts/overlay/dialog.tsx'
import { FormDialog } from '../../../parts/overlay/form-dialog.tsx'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { Code } from '../../../parts/value/code.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { textsOf } from '../../../texts/index.ts'
import { firstEvent } from '../../data/links.ts'
import { type Key, keysQuery } from '../queries.ts'

type Kind = Key['kind']
const KINDS: readonly Kind[] = ['secret', 'publishable']

interface CreateKeyProps {
  businessId: string
  /** The key that a new key of the same kind replaces. Both are accepted until the old one is revoked. */
  replaced: { kind: Kind; name: string } | null
  onClose: () => void
}

export function CreateKey({ businessId, replaced, onClose }: CreateKeyProps) {
  const texts = textsOf('settings')
  const client = useQueryClient()
  const [created, setCreated] = useState<{ kind: Kind; secret: string } | null>(null)
  const form = useForm(async (values) => {
    const kind = replaced?.kind ?? KINDS.find((one) => one === values['kind']) ?? 'secret'
    const params = { path: { businessId } }
    const { key } = await take(api.POST('/dashboard/api/b/{businessId}/keys', { params, body: { kind } }))
    setCreated({ kind, secret: key })
    await client.invalidateQueries(keysQuery(businessId))
  })
  if (created !== null) return <ShownKey {...created} replaced={replaced?.name} onClose={onClose} />
  return (
    <FormDialog
      title={replaced === null ? texts.createKey : texts.rotateTitle}
      form={form}
      action={texts.createKey}
      onClose={onClose}
    >
      {replaced === null ? (
        <SelectField
          name="kind"
          label={texts.kind}
          hint={texts.kindHint}
          options={KINDS.map((value) => ({ value, label: texts.kinds[value] }))}
          error={form.issueOf('kind')}
        />
      ) : (
        <p>{texts.rotateText}</p>
      )}
    </FormDialog>
  )
}

interface ShownKeyProps {
  kind: Kind
  secret: string
  replaced: string | undefined
  onClose: () => void
}

function ShownKey({ kind, secret, replaced, onClose }: ShownKeyProps) {
  const texts = textsOf('settings')
  return (
    <Dialog
      title={texts.newKey}
      size="wide"
      isKept
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          {texts.keyStored}
        </Button>
      }
    >
      <div className="stack">
        <Note>{texts.shownOnce}</Note>
        <Code text={secret} label={texts.kinds[kind]} />
        {kind === 'secret' && <Code text={firstEvent(location.origin, secret)} label={texts.tryIt} />}
        {replaced !== undefined && <p>{texts.rotateNext(replaced)}</p>}
      </div>
    </Dialog>
  )
}
