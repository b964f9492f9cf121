/** Notes that the draft is from an earlier visit, or that another person has saved since it was begun. */
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import { Note } from '../feedback/note.tsx'
import type { DraftState } from './use-draft.ts'

interface DraftNotesProps {
  state: Pick<DraftState<unknown>, 'isRestored' | 'isConflict' | 'discard'>
  /** Default: the section `drafts`, which the page loads. */
  texts?: { discard: string; restored: string; conflict: string }
}

export function DraftNotes({ state, texts = textsOf('drafts') }: DraftNotesProps) {
  const { isRestored, isConflict, discard } = state
  const action = (
    <Button size="small" onClick={discard}>
      {texts.discard}
    </Button>
  )
  return (
    <>
      {isRestored && <Note action={action}>{texts.restored}</Note>}
      {isConflict && <Note>{texts.conflict}</Note>}
    </>
  )
}
