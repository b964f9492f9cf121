/** A native form. Its values go to the server, which names the fields that it rejects. */
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef } from 'react'
import { flushSync } from 'react-dom'
import { ApiError } from '../../client.ts'
import { sayAtField } from '../../without-path.ts'

export interface FormState {
  /** Props of `<form>`. */
  props: { onSubmit: (event: FormEvent<HTMLFormElement>) => void; noValidate?: boolean }
  isPending: boolean
  /** Returns the server's error for this field. */
  issueOf: (name: string) => string | undefined
  /** Error that no field shows; for `<ErrorBox>`. */
  error: Error | null
  reset: () => void
}

/**
 * `send` receives the form's texts by name. An ApiError with issues marks their fields; the first of them gets the
 * focus.
 */
export function useForm(send: (values: Record<string, string>, form: HTMLFormElement) => Promise<unknown>): FormState {
  const shown = useRef<HTMLFormElement>(null)
  const { mutate, isPending, error, reset } = useMutation<unknown, Error, HTMLFormElement>({
    mutationFn: (form) => send(valuesOf(form), form),
    onError: () => {
      // After the fields are marked.
      setTimeout(() => {
        flushSync(() => undefined)
        shown.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
      })
    },
  })
  const issues = error instanceof ApiError ? error.issues : []
  const issueOf = (name: string) => {
    const found = issues.find(({ path }) => path === name)
    return found && sayAtField(found)
  }
  const names = new Set([...(shown.current?.elements ?? [])].map((control) => (control as HTMLInputElement).name))
  const isShown = issues.length > 0 && issues.every(({ path }) => names.has(path))
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    shown.current = event.currentTarget
    if (!isPending) mutate(event.currentTarget)
  }
  return { props: { onSubmit }, isPending, issueOf, error: isShown ? null : error, reset }
}

function valuesOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries(
    [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
