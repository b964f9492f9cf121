/** Asks before an action, above all one that cannot be undone. With `phrase`, the person has to type it first. */
import { FormActions } from '../form/form-actions.tsx'
import { type ReactNode, useState } from 'react'
import { textsOf } from '../../texts/index.ts'
import { Dialog } from './dialog.tsx'
import { ErrorBox } from '../feedback/error-box.tsx'
import { TextField } from '../form/field.tsx'
import { useForm } from '../form/use-form.ts'

interface ConfirmProps {
  title: string
  children: ReactNode
  /** Label of the button, such as “Revoke key”. */
  action: string
  phrase?: string
  /** False for an action that can be taken back. */
  isDangerous?: boolean
  /** Runs the action. The dialog stays open until it is done, and shows the error if it fails. */
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

export function Confirm({ title, children, action, phrase, isDangerous = true, onConfirm, onClose }: ConfirmProps) {
  const texts = textsOf('shell')
  const [typed, setTyped] = useState('')
  const form = useForm(async () => {
    await onConfirm()
    onClose()
  })
  const isTyped = phrase === undefined || typed.trim() === phrase
  return (
    <Dialog title={title} onClose={onClose}>
      <form {...form.props}>
        <div className="stack">
          <div>{children}</div>
          {phrase !== undefined && (
            <TextField
              name="phrase"
              label={texts.typeToConfirm(phrase)}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
          <ErrorBox error={form.error} />
          <FormActions
            form={form}
            action={action}
            isDangerous={isDangerous}
            isIncomplete={!isTyped}
            onClose={onClose}
          />
        </div>
      </form>
    </Dialog>
  )
}
