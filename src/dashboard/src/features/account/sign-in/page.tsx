import { useQueryClient } from '@tanstack/react-query'
import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ApiError, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { safeReturnPath } from '../../../session/return-path.ts'
import { meQuery } from '../../../session/session.ts'
import { Entrance } from '../entrance.tsx'
import type { SignInSearch } from './search.ts'
import { textsOf } from '../../../texts/index.ts'

interface Credentials {
  email: string
  password: string
}

export function SignInPage() {
  const texts = textsOf('sign-in')
  const { to }: SignInSearch = useSearch({ strict: false })
  const router = useRouter()
  const client = useQueryClient()
  /** Set while the form shows the second step. */
  const [first, setFirst] = useState<Credentials | null>(null)

  const signIn = async (body: Credentials & { code?: string }) => {
    const me = await take(api.POST('/dashboard/api/session', { body }))
    client.clear()
    client.setQueryData(meQuery.queryKey, me)
    router.history.replace(safeReturnPath(to, location.origin))
  }
  if (first !== null) return <CodeStep onCode={(code) => signIn({ ...first, code })} onBack={() => setFirst(null)} />

  const onCredentials = async (sent: Credentials) => {
    try {
      await signIn(sent)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'second_factor_required') throw error
      setFirst(sent)
    }
  }
  return (
    <Entrance title={texts.title}>
      <PasswordStep onCredentials={onCredentials} />
      <Link to="/dashboard/forgot" className="small">
        {texts.forgot}
      </Link>
    </Entrance>
  )
}

function PasswordStep({ onCredentials }: { onCredentials: (sent: Credentials) => Promise<void> }) {
  const texts = textsOf('sign-in')
  const form = useForm(({ email = '', password = '' }) => onCredentials({ email, password }))
  return (
    <form {...form.props} className="stack">
      <TextField
        name="email"
        type="email"
        label={texts.email}
        autoComplete="username"
        dir="ltr"
        required
        autoFocus
        error={form.issueOf('email')}
      />
      <TextField
        name="password"
        type="password"
        label={texts.password}
        autoComplete="current-password"
        dir="ltr"
        required
        error={form.issueOf('password')}
      />
      <ErrorBox error={form.error} />
      <Button kind="primary" type="submit" isPending={form.isPending}>
        {texts.action}
      </Button>
    </form>
  )
}

function CodeStep({ onCode, onBack }: { onCode: (code: string) => Promise<void>; onBack: () => void }) {
  const texts = textsOf('sign-in')
  const form = useForm(({ code = '' }) => onCode(code.trim()))
  return (
    <Entrance title={texts.codeTitle} intro={texts.codeText}>
      <form {...form.props} className="stack">
        <TextField name="code" label={texts.code} autoComplete="one-time-code" dir="ltr" required autoFocus />
        <ErrorBox error={form.error} />
        <div className="actions">
          <Button onClick={onBack}>{texts.back}</Button>
          <Button kind="primary" type="submit" isPending={form.isPending}>
            {texts.continue}
          </Button>
        </div>
      </form>
    </Entrance>
  )
}
