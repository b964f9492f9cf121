import type { texts as english } from '../en/test-sequence.ts'

export const texts: typeof english = {
  button: 'Mir die Folge senden',
  title: 'Mir die ganze Folge senden',
  intro:
    'Alle Nachrichten gehen jetzt hinaus, eine nach der anderen, ohne Wartezeiten und ungeachtet der Einwilligung. Niemand wird aufgenommen, und kein Bericht zählt sie.',
  addresses: {
    email: 'E-Mail-Adresse',
    sms: 'Telefonnummer für SMS',
    whatsapp: 'Telefonnummer für WhatsApp',
    push: 'ID eines Kontakts',
  },
  emptyHint: 'Leer: Seine Nachrichten werden ausgelassen.',
  anybody: 'Als niemand Bestimmtes',
  contactHint: 'Als Kontakt: sein Weg durch Verzweigungen und seine Werte in den Nachrichten.',
  send: 'Senden',
  outcome: 'Was daraus wurde',
  outcomes: {
    accepted: 'Angenommen',
    refused: 'Endgültig abgelehnt',
    temporary: 'Jetzt nicht angenommen',
    unknown: 'Keine Antwort',
    template_failed: 'Vorlage fehlerhaft',
    skipped: 'Ausgelassen',
    not_sent: 'Zeit abgelaufen',
  },
  logged: 'Im Protokoll aufbewahrt: Nichts hat den Server verlassen.',
  says: 'Der Anbieter sagt:',
  nothing: 'Auf diesem Weg wird nichts gesendet.',
}
