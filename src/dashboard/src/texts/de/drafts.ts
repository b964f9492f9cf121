import type { texts as english } from '../en/drafts.ts'

export const texts: typeof english = {
  discard: 'Verwerfen',
  restored: 'Das haben Sie früher eingegeben und nicht gespeichert. Es ist in diesem Browser aufbewahrt.',
  conflict:
    'Seit Sie begonnen haben, hat jemand eine andere Fassung gespeichert. Wenn Sie speichern, ersetzt Ihre sie.',
}
