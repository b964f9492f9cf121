import type { texts as english } from '../en/test-send.ts'

export const texts: typeof english = {
  titles: {
    email: 'Test-E-Mail senden',
    sms: 'Test-SMS senden',
    whatsapp: 'WhatsApp-Testnachricht senden',
    push: 'Testbenachrichtigung senden',
    webhook: 'Den Webhook zum Test aufrufen',
  },
  short: 'Ein kurzer Text von Sluice wird jetzt gesendet, ungeachtet der Einwilligung.',
  ofTemplate: (name) => `„${name}“ wird jetzt gesendet, wie gespeichert und ungeachtet der Einwilligung.`,
  email: 'E-Mail-Adresse',
  phone: 'Telefonnummer',
  contactId: 'ID eines Kontakts',
  contactIdHint: 'Per Web Push bekommen sie die Browser dieses Kontakts.',
  send: 'Senden',
  outcomes: {
    accepted: 'Sie wurde angenommen.',
    refused: 'Sie wurde endgültig abgelehnt.',
    temporary: 'Sie wurde jetzt nicht angenommen. Versuchen Sie es später noch einmal.',
    unknown: 'Sie wurde übergeben, und es kam keine Antwort. Vielleicht kommt sie an.',
  },
  loginRefused:
    'Der Server hat den Benutzer oder das Passwort abgelehnt. Prüfen Sie beide in den Einstellungen des Kanals.',
  logged: 'Dieser Kanal bewahrt seine Nachrichten im Protokoll auf: Nichts hat den Server verlassen.',
  reason: 'Der Anbieter sagt:',
}
