/** The buttons of a form in a dialog. */
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import type { FormState } from './use-form.ts'

export interface FormActionsProps {
  form: Pick<FormState, 'isPending'>
  /** Label of the button that sends the form. Default: “Save”. */
  action?: string
  isDangerous?: boolean
  /** True while the form cannot be sent. */
  isIncomplete?: boolean
  onClose: () => void
}

export function FormActions({ form, action, isDangerous = false, isIncomplete, onClose }: FormActionsProps) {
  const shell = textsOf('shell')
  return (
    <div className="actions">
      <Button onClick={onClose}>{shell.cancel}</Button>
      <Button
        kind={isDangerous ? 'danger' : 'primary'}
        type="submit"
        isPending={form.isPending}
        disabled={isIncomplete}
      >
        {action ?? shell.save}
      </Button>
    </div>
  )
}
