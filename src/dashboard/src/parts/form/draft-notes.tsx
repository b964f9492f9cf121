/** Notes that the draft is from an earlier visit, or that another person has saved since it was begun. */
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import { Note } from '../feedback/note.tsx'
import type { KeptDraft } from './use-kept-draft.ts'

export function DraftNotes({ state }: { state: Pick<KeptDraft<unknown>, 'isRestored' | 'isConflict' | 'discard'> }) {
  const texts = textsOf('drafts')
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
