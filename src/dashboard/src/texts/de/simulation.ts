import type { texts as english } from '../en/simulation.ts'

export const texts: typeof english = {
  title: 'Simulieren',
  intro:
    'Was sie mit jemandem täte, nach den Regeln, die Teilnahmen wirklich bewegen. Es wird nichts gespeichert oder gesendet.',
  who: 'Mit',
  contact: 'Einem Kontakt',
  madeUp: 'Einer erfundenen Person',
  from: 'Aufgenommen am',
  fromHint: 'Leer: jetzt.',
  profile: {
    name: 'Name',
    email: 'E-Mail-Adresse',
    phone: 'Telefonnummer',
    language: 'Sprache',
    country: 'Land',
    timezone: 'Zeitzone',
  },
  tags: 'Tags',
  tagsHint: 'Durch Kommas getrennt.',
  customFields: 'Eigene Felder als JSON',
  answers: 'Was die Person währenddessen tut',
  answer: (number) => `Ereignis ${number}`,
  addAnswer: 'Ereignis hinzufügen',
  removeAnswer: (number) => `Ereignis ${number} löschen`,
  event: 'Ereignis',
  at: 'Wann',
  run: 'Simulieren',
  result: 'Was geschähe',
  nothing: 'Kein Schritt würde etwas senden.',
  message: 'Die Nachricht',
  ends: {
    active: 'Die Teilnahme bleibt aktiv.',
    finished: 'Die Teilnahme endet:',
    converted: 'Die Teilnahme konvertiert:',
  },
}
