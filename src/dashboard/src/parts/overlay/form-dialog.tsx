/** A form in a dialog: its fields, the error that no field shows, and the buttons. */
import type { ReactNode } from 'react'
import { ErrorBox } from '../feedback/error-box.tsx'
import { FormActions, type FormActionsProps } from '../form/form-actions.tsx'
import type { FormState } from '../form/use-form.ts'
import { Dialog } from './dialog.tsx'

interface DialogFormProps extends FormActionsProps {
  form: FormState
  /** Shown in place of the form's own error, or of its text. */
  error?: Error | null
  errorText?: string | undefined
  /** Leaves the checks to the server. */
  noValidate?: boolean
  children: ReactNode
}

/** For a dialog with more than the form. */
export function DialogForm({ error, errorText, noValidate, children, ...actions }: DialogFormProps) {
  const { form } = actions
  return (
    <form noValidate={noValidate} {...form.props} className="stack">
      {children}
      <ErrorBox error={error ?? form.error} text={errorText} />
      <FormActions {...actions} />
    </form>
  )
}

interface FormDialogProps extends DialogFormProps {
  title: string
}

/** Render this only while the dialog is open. */
export function FormDialog({ title, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={form.onClose}>
      <DialogForm {...form} />
    </Dialog>
  )
}
