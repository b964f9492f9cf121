/** A change that the page shows before the server has answered (docs/development.md, "Show a change at once"). */
import {
  type MutationScope,
  type QueryKey,
  hashKey,
  useMutation,
  useMutationState,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { showError } from './toast.tsx'

interface Options<Stored, Change, Answer> {
  /** Of the query that has `stored`. */
  queryKey: QueryKey
  /** `stored`: with what the changes before this one have made of it. */
  send: (change: Change, stored: Stored) => Promise<Answer>
  /** What is shown until the answer. A change that was made already must change nothing. */
  show: (stored: Stored, change: Change) => Stored
  /** When the answer is all that the query reads. Without it, the query is read again. */
  keep?: (answer: Answer) => Stored
  onDone?: (change: Change) => void
}

export interface Refused<Change> {
  change: Change
  error: Error
}

interface Optimistic<Stored, Change> {
  /** What the server has, with the changes that it has not answered yet. */
  shown: Stored
  change: (change: Change) => void
  /** Whether a change has no answer yet. */
  isPending: boolean
  /**
   * The changes that were refused, in their order, until another is made: of several that were under way at once there may be more than
   * one. One that is refused after the page was left is shown as a toast.
   */
  refused: readonly Refused<Change>[]
}

/** Changes of one scope are sent one after the other. Other mutations of what the query reads can join it. */
export const scopeOf = (queryKey: QueryKey): MutationScope => ({ id: hashKey(queryKey) })

/**
 * The store of the query has the server's word alone, and the changes without an answer are laid over it. So a reading that is under
 * way hides none of them, and a change that is refused is gone with nothing to put back.
 */
export function useOptimistic<Stored, Change, Answer>(
  stored: Stored,
  { queryKey, send, show, keep, onDone }: Options<NonNullable<Stored>, Change, Answer>,
): Optimistic<Stored, Change> {
  type Data = NonNullable<Stored>
  const client = useQueryClient()
  const [refused, setRefused] = useState<(Refused<Change> & { id: string })[]>([])
  const id = hashKey(queryKey)
  // The page may be left, or show something else, before the answer comes.
  const seen = useRef<string | null>(null)
  useEffect(() => {
    seen.current = id
    return () => void (seen.current = null)
  }, [id])
  const mutationKey = ['optimistic', ...queryKey]
  const changes = useMutationState({
    filters: { mutationKey, exact: true, status: 'pending' },
    select: ({ state }) => state.variables as Change,
  })
  const readAgain = () => client.invalidateQueries({ queryKey, exact: true })
  const { mutate } = useMutation<Answer, Error, Change>({
    mutationKey,
    scope: scopeOf(queryKey),
    // Without a connection it fails, as all else does: it would be shown as made until there is one.
    networkMode: 'always',
    mutationFn: (change) => send(change, client.getQueryData<Data>(queryKey) ?? (stored as Data)),
    onSuccess: async (answer, change) => {
      // A reading that began before would bring back what was there.
      await client.cancelQueries({ queryKey, exact: true })
      client.setQueryData<Data>(queryKey, (data) => data && (keep?.(answer) ?? show(data, change)))
      if (keep === undefined) void readAgain()
      onDone?.(change)
    },
    onError: async (error, change) => {
      if (seen.current === id) setRefused((before) => [...before, { id, change, error }])
      else showError(error)
      // The next one of the scope is sent with what is read now.
      await readAgain()
    },
  })
  return {
    shown: stored == null ? stored : changes.reduce<Data>(show, stored),
    change: (change) => {
      setRefused([])
      mutate(change)
    },
    isPending: changes.length > 0,
    refused: refused.filter((one) => one.id === id),
  }
}
