import type { texts as english } from '../en/messaging.ts'

export const texts: typeof english = {
  title: 'Nachrichten',
  intro: 'Was für alle Kampagnen gilt.',
  rules: 'Ruhezeiten und Obergrenzen',
  rulesIntro:
    'Die Ruhezeiten gelten für Kampagnen, die keine nennen. Änderungen gelten ab jetzt, für alle, die teilnehmen.',
  capsHint:
    'Höchstens so viele Nachrichten an einen Kontakt, über alle Kampagnen gezählt, neben den Obergrenzen der Kampagnen.',
}
