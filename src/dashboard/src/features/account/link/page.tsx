import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import type { DataOf } from '../../../data-of.ts'
import { Button, ButtonLink } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Loading } from '../../../parts/feedback/loading.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { meQuery } from '../../../session/session.ts'
import { Entrance } from '../entrance.tsx'
import { textsOf } from '../../../texts/index.ts'
import { forgetToken, readToken } from './token.ts'

type Read = DataOf<'/dashboard/api/link/read', 'post'>

export function LinkPage() {
  const texts = textsOf('sign-in')
  const [token] = useState(readToken)
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: ({ signal }) => take(api.POST('/dashboard/api/link/read', { body: { token }, signal })),
    enabled: token !== '',
    staleTime: Infinity,
    gcTime: 0,
  })
  if (link.data !== undefined) return <TakeLink token={token} link={link.data} />
  if (token !== '' && link.error === null) {
    return (
      <Entrance title="Sluice">
        <Loading />
      </Entrance>
    )
  }
  return (
    <Entrance title={texts.link.invalidTitle} intro={token === '' ? texts.link.missing : undefined}>
      <ErrorBox error={link.error} onRetry={() => void link.refetch()} />
      <Link to="/dashboard/sign-in" className="small">
        {texts.forgotPage.toSignIn}
      </Link>
    </Entrance>
  )
}

function TakeLink({ token, link }: { token: string; link: Read }) {
  const texts = textsOf('sign-in')
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isAnew, setAnew] = useState(false)
  const { kind, email, needsEmail, needsCode, needsSignIn, mayStartAnew } = link
  const needsPassword = link.needsPassword || isAnew
  const isNew = needsEmail || (kind === 'invitation' && needsPassword)
  const form = useForm(async ({ password, name, email: chosen, code }) => {
    const me = await take(
      api.POST('/dashboard/api/link', {
        body: {
          token,
          ...(password && { password }),
          ...(name && { name }),
          ...(chosen && { email: chosen }),
          ...(code && { code }),
        },
      }),
    )
    forgetToken()
    client.clear()
    client.setQueryData(meQuery.queryKey, me)
    await navigate({ to: '/dashboard', replace: true })
  })
  if (needsSignIn && !isAnew) {
    return (
      <Entrance title={texts.link[kind]} intro={introOf(link)}>
        <p>{texts.link.signInFirst(email)}</p>
        {needsCode && <p>{texts.link.signInWithCode}</p>}
        <ButtonLink kind="primary" to="/dashboard/sign-in" search={{ to: '/dashboard/link' }}>
          {texts.link.signInAction}
        </ButtonLink>
        {mayStartAnew && (
          <>
            <p>{texts.link.startAnew(email)}</p>
            <Button onClick={() => setAnew(true)}>{texts.link.startAnewAction}</Button>
          </>
        )}
      </Entrance>
    )
  }
  return (
    <Entrance title={texts.link[kind]} intro={introOf(link)}>
      <form {...form.props} className="stack">
        {isNew && <TextField name="name" label={texts.link.name} autoComplete="name" error={form.issueOf('name')} />}
        {needsEmail && (
          <TextField
            name="email"
            type="email"
            label={texts.email}
            autoComplete="username"
            dir="ltr"
            required
            error={form.issueOf('email')}
          />
        )}
        {(needsPassword || needsEmail) && (
          <>
            {!needsEmail && <input type="email" value={email} autoComplete="username" readOnly hidden />}
            <TextField
              name="password"
              type="password"
              label={texts.link.newPassword}
              hint={texts.link.passwordHint}
              autoComplete="new-password"
              dir="ltr"
              required
              error={form.issueOf('password')}
            />
          </>
        )}
        {needsCode && (
          <TextField
            name="code"
            label={texts.code}
            hint={texts.codeText}
            autoComplete="one-time-code"
            dir="ltr"
            required
          />
        )}
        <ErrorBox error={form.error} />
        <Button kind="primary" type="submit" isPending={form.isPending}>
          {kind === 'invitation' ? texts.link.accept : texts.action}
        </Button>
      </form>
    </Entrance>
  )
}

function introOf({ kind, email, needsEmail, businessName = '', role }: Read): string {
  const texts = textsOf('sign-in').link
  if (needsEmail) return texts.firstText
  if (kind === 'reset') return texts.resetText(email)
  if (kind === 'sign-in') return texts.signInText(email)
  return texts.invitationText(businessName, role === undefined ? '' : textsOf('shell').roles[role])
}
