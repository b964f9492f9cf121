import type { texts as english } from '../en/custom-fields.ts'

export const texts: typeof english = {
  title: 'Eigene Felder',
  intro: 'Was Ihre Ereignisse und Profile über die üblichen Felder hinaus von Personen sagen.',
  ofAll: (count: string) => (count === '1' ? 'Gefüllt: von 1 Kontakt.' : `Gefüllt: von ${count} Kontakten.`),
  ofSample: (count: string) => `Gefüllt: von einer Stichprobe von ${count} Kontakten.`,
  field: 'Feld',
  type: 'Typ',
  types: { Number: 'Zahl', Date: 'Datum', Boolean: 'Ja oder nein', Text: 'Text' },
  filled: 'Gefüllt',
  firstSeen: 'Zuerst gesehen',
  description: 'Beschreibung',
  hidden: 'Verborgen',
  showHidden: 'Verborgene Felder zeigen',
  allHidden: 'Alle Felder sind verborgen',
  emptyTitle: 'Noch keine eigenen Felder',
  empty:
    'Ein Feld erscheint, wenn ein Ereignis oder ein identify-Aufruf traits hat, etwa { "plan": "pro" }. Sein Typ ist der des ersten Wertes.',
  hide: 'Dieses Feld verbergen',
  hideHint: 'Es fehlt, wo Felder ausgewählt werden. Seine Daten bleiben, und neue Werte werden gespeichert.',
  values: 'Werte',
  noValues: 'Kein Kontakt hat einen Wert.',
  filledBy: (filled: string, contacts: string) => `${filled} von ${contacts} Kontakten haben einen Wert.`,
  distinct: (count: string) => (count === '1' ? 'Alle gleich.' : `${count} verschiedene Werte.`),
  quantiles: ['Kleinster', 'Unteres Viertel', 'Median', 'Oberes Viertel', 'Größter'],
  top: 'Häufigste Werte',
}
