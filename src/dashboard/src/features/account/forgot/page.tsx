import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, take } from '../../../client.ts'
import { Button } from '../../../parts/action/button.tsx'
import { ErrorBox } from '../../../parts/feedback/error-box.tsx'
import { TextField } from '../../../parts/form/field.tsx'
import { Note } from '../../../parts/feedback/note.tsx'
import { useForm } from '../../../parts/form/use-form.ts'
import { Entrance } from '../entrance.tsx'
import { textsOf } from '../../../texts/index.ts'

export function ForgotPage() {
  const texts = textsOf('sign-in')
  const page = texts.forgotPage
  const [sentTo, setSentTo] = useState<string | null>(null)
  const installation = useQuery({
    queryKey: ['installation'],
    queryFn: ({ signal }) => take(api.GET('/dashboard/api/installation', { signal })),
  })
  const form = useForm(async ({ email = '' }) => {
    await take(api.POST('/dashboard/api/password-reset', { body: { email } }))
    setSentTo(email)
  })
  const back = (
    <Link to="/dashboard/sign-in" className="small">
      {page.toSignIn}
    </Link>
  )
  if (sentTo !== null) {
    return (
      <Entrance title={page.sentTitle} intro={page.sent(sentTo)}>
        {back}
      </Entrance>
    )
  }
  if (installation.data?.canMail === false) {
    return (
      <Entrance title={page.title}>
        <Note>{page.noMail}</Note>
        {back}
      </Entrance>
    )
  }
  return (
    <Entrance title={page.title} intro={page.text}>
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
        <ErrorBox error={form.error} />
        <Button kind="primary" type="submit" isPending={form.isPending}>
          {page.action}
        </Button>
      </form>
      {back}
    </Entrance>
  )
}
