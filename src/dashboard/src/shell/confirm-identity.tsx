/** Shows the dialog when the server answers `confirmation_required`. The request is sent again afterwards. */
import { ApiError, api, hooks, take } from '../client.ts'
import { Dialog } from '../parts/overlay/dialog.tsx'
import { ErrorBox } from '../parts/feedback/error-box.tsx'
import { FormActions } from '../parts/form/form-actions.tsx'
import { TextField } from '../parts/form/field.tsx'
import { useForm } from '../parts/form/use-form.ts'
import { useMe } from '../session/session.ts'
import { createStore, useStore } from '../store.ts'
import { textsOf } from '../texts/index.ts'

const pending = createStore<((isConfirmed: boolean) => void) | null>(null)
let current: Promise<boolean> | null = null

/** Concurrent requests share one dialog. */
hooks.confirm = () => {
  current ??= new Promise<boolean>((resolve) => {
    pending.set((isConfirmed) => {
      pending.set(null)
      current = null
      resolve(isConfirmed)
    })
  })
  return current
}

export function ConfirmIdentity() {
  const answer = useStore(pending)
  return answer === null ? null : <ConfirmDialog answer={answer} />
}

function ConfirmDialog({ answer }: { answer: (isConfirmed: boolean) => void }) {
  const texts = textsOf('shell')
  const { user } = useMe()
  const form = useForm(async ({ password = '', code }) => {
    const body = { password, ...(code ? { code } : {}) }
    await take(api.POST('/dashboard/api/session/confirm', { body }))
    answer(true)
  })
  // Nobody is asked for the email address here.
  const isWrong = form.error instanceof ApiError && form.error.code === 'wrong_credentials'
  return (
    <Dialog title={texts.confirmIdentity.title} onClose={() => answer(false)}>
      <form {...form.props} className="stack">
        <p className="muted">{texts.confirmIdentity.text}</p>
        <input type="email" name="email" value={user.email} autoComplete="username" readOnly hidden />
        <TextField
          name="password"
          type="password"
          label={texts.confirmIdentity.password}
          autoComplete="current-password"
          required
          error={form.issueOf('password')}
        />
        {user.hasTotp && (
          <TextField
            name="code"
            label={texts.confirmIdentity.code}
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            error={form.issueOf('code')}
          />
        )}
        <ErrorBox error={form.error} text={isWrong ? texts.confirmIdentity.wrongPassword : undefined} />
        <FormActions form={form} action={texts.confirmIdentity.action} onClose={() => answer(false)} />
      </form>
    </Dialog>
  )
}
